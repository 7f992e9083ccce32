import type { CallOptions, SelectOptions } from "./read.ts";

export interface WriteOptions extends CallOptions {
  /** @default the client's */
  readonly fieldManager?: string;
  /** Do everything but keep the result. @default false */
  readonly dryRun?: boolean;
  /** What becomes of fields that the kind does not have. @default the server's to say */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
}

/** What a patch is to do besides. */
export type PatchOptions = WriteOptions;

/** One step of a JSON Patch (RFC 6902). */
export interface JsonPatchOperation {
  readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  /** A JSON Pointer: `/spec/text`; `~` is written `~0` in it, `/` as `~1`. */
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

export interface ApplyOptions extends WriteOptions {
  /** Take fields away from other managers. @default false, that is a conflict */
  readonly force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  /** What the object must still be: 409 if it is not. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** Which objects, and how: without a selector, all of them. */
export type DeleteCollectionOptions = Omit<DeleteOptions, "preconditions"> & SelectOptions;
