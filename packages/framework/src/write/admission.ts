import type { DeleteQuery, KubeObject } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";
import type { Awaitable } from "../storage.ts";
import type { User } from "../user.ts";

/** What is about to be done to an object (Kubernetes' admission attributes). */
export interface AdmitRequest<T extends KubeObject = KubeObject> {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  /** The kind that is written, so that one hook can serve several. */
  readonly definition: ResourceDefinition;
  /** The object as it would be kept, defaults filled in; `undefined` for a delete. */
  readonly object: T | undefined;
  /** As it is kept now; `undefined` for a create. */
  readonly oldObject: T | undefined;
  /** What the client said of a delete: how long, with what dependents, on what condition; `undefined` for other writes. */
  readonly deletion: DeleteQuery | undefined;
  /** `status`, `scale`, or "" for the object itself. */
  readonly subresource: string;
  readonly user: User;
  readonly params: Readonly<Record<string, string>>;
  /** Nothing will be kept: do nothing that lasts. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** Resolves once the object has been kept, or is not going to be: until then the storage may not show it. Never rejects. */
  readonly settled: Promise<void>;
  /** Adds a `Warning` header to the answer. */
  readonly warn: (text: string) => void;
}

/**
 * Asked before every write, after authorization and before validation. Returns the object to be kept if it is to be
 * another (the schema is applied to it again, and what the write may not change stays: all but the status of a write of the
 * status, all but the replicas of one of the scale), and throws an `ApiError` to refuse. May be asked several times for one request, when the object changes
 * underneath.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that only refuses returns nothing
export type Admit<T extends KubeObject = KubeObject> = (request: AdmitRequest<T>) => Awaitable<T | undefined | void>;
