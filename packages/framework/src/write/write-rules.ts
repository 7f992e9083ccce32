import type { KubeObject, StatusCause } from "@virtual-workspaces/apimachinery";
import type { FieldManager } from "@virtual-workspaces/apimachinery/apply";
import type { Awaitable } from "../util/awaitable.ts";
import type { Part } from "./update.ts";

/** Options for checking an object besides its schema. */
export interface CheckOptions {
  /** Object that it replaces; `undefined` for a new one. */
  readonly before: KubeObject | undefined;
  readonly part: Part;
  /** Errors in its metadata, which may keep CEL rules from running. @default none */
  readonly metadata?: readonly StatusCause[];
  readonly request: {
    /** Read by CEL rules only. */
    readonly signal: AbortSignal;
    /** Called with errors that may stay because the previous object had them. @default no callback */
    readonly warn?: (text: string) => void;
  };
}

/** Rules of a kind's schema, and the owners of its fields. */
export interface KindRules {
  /** Removes fields outside the schema, in place. @returns the removed paths: `spec.ports[0].nmae` */
  prune(object: KubeObject): readonly string[];
  /** Does the same, but keeps null, which is a value in an apply. */
  pruneUnknown(object: KubeObject): void;
  /** Sets defaults, in place. */
  fillDefaults(object: KubeObject): void;
  /** Returns the errors in an object, except in its metadata. */
  problems(object: KubeObject, options: CheckOptions): Awaitable<readonly StatusCause[]>;
  readonly fields: FieldOwners;
}

/** Computes the owners of an object's fields, and the result of an apply. */
export type FieldOwners = Pick<FieldManager, "update" | "apply">;
