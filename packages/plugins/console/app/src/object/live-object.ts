import type { ReadonlySignal, Signal } from "@preact/signals";
import { asStatusError, request, type StatusError } from "../api/client.ts";
import { collectionPath, nameSelector, type ObjectAddress } from "../api/objects.ts";
import { reloadable } from "../api/shared.ts";
import type { List, Metadata } from "../api/types.ts";
import { listAndWatch } from "../api/watch.ts";
import { exactly, readExactly } from "./exact-numbers.ts";

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsV1?: unknown;
  readonly subresource?: string;
}

/** An object with all its fields. */
export interface WholeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata & {
    readonly generation?: number;
    readonly deletionGracePeriodSeconds?: number;
    readonly ownerReferences?: readonly OwnerReference[];
    readonly finalizers?: readonly string[];
    readonly managedFields?: readonly ManagedFieldsEntry[];
  };
  readonly [field: string]: unknown;
}

export interface LiveObject {
  /** The last known state; of a deleted object its last one. */
  readonly object?: WholeObject;
  /** `static`: the user may read the object, but not watch it. */
  readonly state: "loading" | "live" | "static" | "retrying" | "missing" | "deleted" | "failed";
  readonly error?: StatusError;
  readonly reload: () => void;
}

/** An object with all its fields, managed fields included, kept up to date while anything reads the signal. */
export function liveWholeObject(address: ObjectAddress): ReadonlySignal<LiveObject> {
  const key = `object ${JSON.stringify(address)}`;
  return reloadable<LiveObject>(key, { state: "loading" }, (state) => start(state, address));
}

function start(state: Signal<LiveObject>, address: ObjectAddress): () => void {
  const set = (next: Omit<LiveObject, "reload">) => {
    state.value = { ...next, reload: state.peek().reload };
  };
  const keep = () => {
    const { object } = state.peek();
    return object === undefined ? {} : { object };
  };
  /** Of the last event: an object that had to be read again may be late. */
  let last: WholeObject | undefined;
  const fallback = new AbortController();
  const parameters = { fieldSelector: nameSelector(address.name) };
  const path = collectionPath(address);
  const stop = listAndWatch<WholeObject>({
    path: () => path,
    parameters: () => parameters,
    async list(signal) {
      const list: List<WholeObject> & { readonly kind?: string; readonly apiVersion?: string } = await request(path, {
        parameters,
        signal,
      });
      const found = (list.items ?? []).find(({ metadata }) => metadata.name === address.name);
      if (found !== undefined) set({ object: await exactly(typed(found, list), address), state: "live" });
      else set({ ...keep(), state: state.peek().object === undefined ? "missing" : "deleted" });
      return { resourceVersion: list.metadata.resourceVersion ?? "" };
    },
    onEvent({ type, object }) {
      if (type === "BOOKMARK" || object.metadata.name !== address.name) return;
      if (type === "DELETED") {
        last = undefined;
        return set({ object, state: "deleted" });
      }
      last = object;
      exactly(object, address).then(
        (exact) => {
          if (last === object) set({ object: exact, state: "live" });
        },
        () => set({ object, state: "live" }),
      );
    },
    onState({ error, isFinal = false }) {
      if (error === undefined) return;
      if (!isFinal) return set({ ...keep(), state: "retrying", error });
      if (error.code === 403 || error.code === 405) return void readOnce(fallback.signal);
      set({ ...keep(), state: error.code === 404 ? "missing" : "failed", error });
    },
  });
  const readOnce = async (signal: AbortSignal) => {
    try {
      set({ object: await readExactly(address, signal), state: "static" });
    } catch (cause) {
      if (signal.aborted) return;
      const error = asStatusError(cause);
      set({ ...keep(), state: error.code === 404 ? "missing" : "failed", error });
    }
  };
  return () => {
    fallback.abort();
    stop();
  };
}

/** Items of some lists have no kind of their own. */
function typed(object: WholeObject, list: { readonly kind?: string; readonly apiVersion?: string }): WholeObject {
  if (object.kind) return object;
  return { ...object, apiVersion: list.apiVersion ?? "", kind: (list.kind ?? "").replace(/List$/, "") };
}
