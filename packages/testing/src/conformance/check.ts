import type { ResourceProbe } from "./resource-probe.ts";
import type { ServerProbe } from "./server-probe.ts";

/** What every check says of itself. */
export interface CheckInfo {
  /** `T1.1`. */
  readonly id: string;
  /** What holds when it passes. */
  readonly title: string;
  /** What users suffer when it does not hold. */
  readonly protects: string;
  /** Holds of what this project promises, not of Kubernetes itself: run only when asked for. @default false */
  readonly strict?: boolean;
}

/** A check of what a URL answers as a whole. */
export interface ServerCheck extends CheckInfo {
  readonly scope: "server";
  /** @throws CheckFailure, CheckSkipped */
  run(probe: ServerProbe): Promise<void>;
}

export type CheckedVerb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** A check of one resource. */
export interface ResourceCheck extends CheckInfo {
  readonly scope: "resource";
  /** Verbs the resource must advertise, else the check is skipped. */
  readonly verbs: readonly CheckedVerb[];
  /** Changes objects through the hooks of the run. @default false */
  readonly mutates?: boolean;
  /** Writes objects over the wire: run only where that is allowed. @default false */
  readonly writes?: boolean;
  /** Runs even where the resource cannot be listed. @default false */
  readonly evenUnlistable?: boolean;
  /** @throws CheckFailure, CheckSkipped */
  run(probe: ResourceProbe): Promise<void>;
}

export type Check = ServerCheck | ResourceCheck;
