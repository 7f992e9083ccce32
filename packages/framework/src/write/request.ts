import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { Awaitable, Scope } from "../storage.ts";
import type { WriteOptions } from "../storage-writes.ts";
import type { Admit, AdmitRequest } from "./admission.ts";
import type { Part } from "./update.ts";

/** One write on its way to a storage: for whom, where, and who has a say. */
export interface WriteRequest {
  readonly scope: Scope;
  /** As the client has them, dry run included; a storage hears of that only if it knows what to do about it. */
  readonly options: WriteOptions;
  readonly part: Part;
  /** True: status is written together with the rest. For what writes on behalf of a view, which has told parts apart. */
  readonly whole?: boolean;
  readonly admit?: Admit | undefined;
  /** As {@link AdmitRequest.settled}. @default at once */
  readonly settled?: Promise<void>;
  /** Told of fields that the kind does not have. @throws ApiError when the client wants none */
  readonly unknown?: (paths: readonly string[]) => void;
  /**
   * Asked before an update creates what it did not find; without it such an update is 404.
   * @throws ApiError when the caller may not
   */
  readonly mayCreate?: () => Awaitable<void>;
}

/** Does a write, and tells admission of its end. */
export async function settling<R>(request: WriteRequest, write: (request: WriteRequest) => Promise<R>): Promise<R> {
  if (request.admit === undefined) return write(request);
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  try {
    return await write({ ...request, settled });
  } finally {
    resolve();
  }
}

/** What a client wants an object to be. */
export interface Draft {
  readonly object: KubeObject;
  /**
   * How it was made: `replacing` the object by one that has been made to conform already, `changing` a copy of it, or by
   * `applying`, after which the owners of fields are in it.
   */
  readonly by: "replacing" | "changing" | "applying";
}

/** Makes a draft from a copy of what is kept now; asked again when that has changed in the meantime. */
export type Change = (copy: () => KubeObject | undefined) => Awaitable<Draft>;
