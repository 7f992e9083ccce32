/** Metadata of a Kubernetes object, as far as the page reads it. */
export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Metadata;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Body of an error. */
export interface Status {
  readonly kind: "Status";
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    /** Of the object that the error is about. */
    readonly name?: string;
    /** Plural name of what the error is about. */
    readonly kind?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly field?: string; readonly message?: string; readonly reason?: string }[];
  };
}

/** Additional metadata of lists of query views. */
interface QueryMetadata {
  readonly total: number;
  readonly offset: number;
  readonly rights?: string;
  readonly counts?: Readonly<Record<string, Counts>>;
  /** Names of the shards of a list over all workspaces, if the server has several. */
  readonly shards?: readonly string[];
  /** Shards whose objects may be missing or out of date. */
  readonly unavailableShards?: readonly string[];
}

export interface Counts {
  readonly values: readonly { readonly value: unknown; readonly count: number }[];
  readonly others: number;
}

interface ListMetadata {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
  readonly query?: QueryMetadata;
}

export interface List<T> {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ListMetadata;
  readonly items: readonly T[] | null;
}

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** 0 is shown always; others only in wide tables. */
  readonly priority: number;
}

export interface Table {
  readonly kind: "Table";
  readonly metadata: ListMetadata;
  readonly columnDefinitions: readonly Column[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: KubernetesObject }[] | null;
}

/** Name of the logical cluster of an object of kcp. */
export const clusterOf = ({ metadata }: KubernetesObject): string => metadata.annotations?.["kcp.io/cluster"] ?? "";
