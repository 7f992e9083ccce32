import type { KubeObject, StatusCause } from "@virtual-workspaces/apimachinery";
import type { FieldManager } from "@virtual-workspaces/apimachinery/apply";
import type { Awaitable } from "../util/awaitable.ts";
import type { Part } from "./update.ts";

/** What an object is checked against besides its schema. */
export interface CheckOptions {
  /** What it replaces; `undefined` for a new one. */
  readonly before: KubeObject | undefined;
  readonly part: Part;
  /** What is wrong with its metadata: CEL rules may not be asked because of that. @default nothing */
  readonly metadata?: readonly StatusCause[];
  readonly signal: AbortSignal;
  /** Told of what may stay wrong because it was so before. @default nobody */
  readonly warn?: (text: string) => void;
}

/** What a kind's schema says of its objects, and who owns their fields. */
export interface KindRules {
  /** Removes what the schema does not know, in place. @returns the paths removed: `spec.ports[0].nmae` */
  prune(object: KubeObject): readonly string[];
  /** The same but for null, which is a value to an apply. */
  pruneUnknown(object: KubeObject): void;
  /** Fills in defaults, in place. */
  fillDefaults(object: KubeObject): void;
  /** What is wrong with an object, its metadata aside. */
  problems(object: KubeObject, options: CheckOptions): Awaitable<readonly StatusCause[]>;
  readonly fields: FieldOwners;
}

/** Whose fields an object's are, and what an apply makes of it. */
export type FieldOwners = Pick<FieldManager, "update" | "apply">;
