import type { ReadonlySignal, Signal } from "@preact/signals";
import type { ResourceId } from "./base.ts";
import type { StatusError } from "./client.ts";
import type { Column, Counts, KubernetesObject } from "./types.ts";

/** Page of a list. Equal queries share one watch. */
export interface TableQuery {
  readonly workspace: string;
  readonly resource: ResourceId;
  /** Empty: all namespaces. */
  readonly namespace?: string;
  /** The objects of all workspaces of the shard. */
  readonly isOverAll?: boolean;
  /** Identity of the export, for bound resources over all workspaces. */
  readonly identity?: string;
  /** Name of a column, or a JSON path; `-` before it reverses the order. Default: the name. */
  readonly sort?: string;
  readonly search?: string;
  readonly labels?: string;
  /** CEL expression over `object`. */
  readonly filter?: string;
  /** Column whose values are counted. */
  readonly countBy?: string;
  readonly offset: number;
  readonly limit: number;
}

export interface Row {
  readonly cells: readonly unknown[];
  readonly object: KubernetesObject;
}

/** One page of a sorted list, as a table. */
export interface TablePage {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** Number of selected objects; undefined before the first answer. */
  readonly total: number | undefined;
  readonly counts?: Counts;
  /** Shards whose objects may be missing or out of date. */
  readonly unavailable?: readonly string[];
  /** `query`: the server sorts and filters. `plain`: the page sorts, and `filter` and `countBy` have no effect. */
  readonly source: "query" | "plain";
  /** `retrying` and `failed` keep the last rows and have an error. */
  readonly state: "loading" | "live" | "retrying" | "failed";
  readonly error?: StatusError;
  readonly reload: () => void;
}

export type TableState = Signal<TablePage>;
export type ReadonlyTableState = ReadonlySignal<TablePage>;
