import type {
  FieldValidation,
  KubeObject,
  ObjectKey,
  Preconditions,
  PropagationPolicy,
  Status,
} from "@virtual-workspaces/apimachinery";
import type { Encoded } from "./watch/cache/encoded.ts";
import type { ListRequest, RequestOptions, Storage } from "./storage.ts";

/** What a create or an update is to do, and on whose behalf (Kubernetes' `CreateOptions`, `UpdateOptions`). */
export interface WriteOptions extends RequestOptions {
  /** True only for a storage with a {@link Storage.lifecycle} of its own: do everything but keep the result. */
  readonly dryRun: boolean;
  /** Who the fields belong to that this write sets. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /**
   * Set when only this part of the object is written; `scale` only where a Scale is handed over as it came. A storage that passes writes on says so to whoever is behind it; one
   * that keeps objects need not look, since it is given them whole. @default the object itself
   */
  readonly subresource?: "status" | "scale";
  /**
   * Asked of an object as it would be kept, before it is, dry runs included; `undefined` when the storage that is asked to
   * write would not show it. Throws to refuse. Views set it; a storage with a {@link Storage.lifecycle} of its own asks.
   */
  readonly accept?: (object: KubeObject | undefined) => void;
}

/** A create or an update, as the client sent it. */
export interface SentWrite extends WriteOptions {
  readonly verb: "create" | "update";
  /** Of a create without a name: that is in the body, or still to be made. */
  readonly key: ObjectKey;
  /** `application/json`, `application/yaml`, or whatever else the client said. */
  readonly contentType: string;
  /** As it came; what comes as protobuf, as JSON. */
  readonly body: Buffer;
}

/** What a patch is, as the client sent it (Kubernetes' `PatchOptions`). */
export interface PatchOptions extends WriteOptions {
  /** The kind of patch: `application/json-patch+json`, `application/apply-patch+yaml`, … */
  readonly contentType: string;
  /** As it came. */
  readonly patch: Buffer;
  /** Of an apply: take fields away from other managers. */
  readonly force: boolean;
}

/** What a delete is to do, as the client said (Kubernetes' `DeleteOptions`). */
export interface DeleteOptions extends RequestOptions {
  /** As {@link WriteOptions.dryRun}. */
  readonly dryRun: boolean;
  /** How long the object may take to end by itself, s. @default what its kind says */
  readonly gracePeriodSeconds?: number;
  /** What becomes of its dependents. @default the storage's to say */
  readonly propagationPolicy?: PropagationPolicy;
  /** The older form of {@link propagationPolicy}. */
  readonly orphanDependents?: boolean;
  /** What the object must still be: 409 if it is not. */
  readonly preconditions?: Preconditions;
}

/** What a delete of many is to do, and of which page of them. */
export interface DeleteCollectionOptions extends DeleteOptions, ListRequest {}

/** What a write left behind. */
export interface Written<T extends KubeObject = KubeObject> {
  readonly object: T | Encoded;
  /** True: answered 201. */
  readonly created?: boolean;
}

/** Whether a delete was answered by a Status rather than by an object. */
export function isStatus(answer: object): answer is Status {
  const { kind, apiVersion } = answer as Partial<Status>;
  return kind === "Status" && apiVersion === "v1" && !("bytes" in answer);
}
