import { expectCode, expectOk, expectSame, skip } from "../assertions/expect.ts";
import { at, type JsonObject, textAt } from "../assertions/json.ts";
import { type ReadEvents, readEvents, versionOf } from "../assertions/objects.ts";
import type { Answer } from "../http/answer.ts";
import type { Query } from "../http/client.ts";
import type { WatchStream } from "../http/watch-stream.ts";
import type { CollectionProbe } from "../probe/collection-probe.ts";
import { MERGE_PATCH } from "./remove.ts";
import { type Described, expectWritten, type ObjectDraft, type WriteRequest, type Writer } from "./writer.ts";

/** Finalizer that only the check itself removes. */
export const FINALIZER = "example.com/conformance";

/** Options of a deletion, in the body or in the query. Servers read one of the two. */
export interface Deleting {
  readonly options?: JsonObject;
  readonly query?: Query;
  /** Whether to use the kind's grace period. @default false, delete immediately */
  readonly graceful?: boolean;
}

export function deleteOptions(options: JsonObject): JsonObject {
  return { apiVersion: "v1", kind: "DeleteOptions", ...options };
}

/** Probe of a resource, with a writer when the run may write. */
export type WritableProbe = CollectionProbe & { readonly writer: Writer | undefined };

/** Writes of one check. The end of its `await using` block deletes the remaining objects. */
export class Writes implements AsyncDisposable {
  readonly probe: WritableProbe;
  readonly writer: Writer;
  /** Identifies the objects of this check. */
  readonly mark: string;
  readonly #names: string[] = [];

  constructor(probe: WritableProbe) {
    if (probe.writer === undefined) skip("it writes objects, and the run may only read");
    this.probe = probe;
    this.writer = probe.writer;
    this.mark = probe.writer.mark();
  }

  /** Returns a valid object with an unused name, without sending it. */
  async draft(described?: Described): Promise<ObjectDraft> {
    const draft = await this.writer.draft(described);
    this.#names.push(draft.metadata.name);
    return draft;
  }

  /** Remembers an object whose name the server generated. */
  remember(name: string): void {
    this.writer.remember(name);
    this.#names.push(name);
  }

  pathOf(object: unknown): string {
    return this.writer.pathOf(textAt(object, "metadata", "name"));
  }

  send(sent: WriteRequest): Promise<Answer> {
    return this.writer.send(sent);
  }

  post(body: unknown, query: Query = {}): Promise<Answer> {
    return this.send({ method: "POST", path: this.writer.path, body, query });
  }

  put(body: unknown, query: Query = {}): Promise<Answer> {
    return this.send({ method: "PUT", path: this.pathOf(body), body, query });
  }

  /** Sends a merge patch. */
  patch(object: unknown, body: unknown, query: Query = {}): Promise<Answer> {
    return this.send({ method: "PATCH", path: this.pathOf(object), type: MERGE_PATCH, body, query });
  }

  /** Deletes an object, by default without its grace period. */
  delete(object: unknown, { options, query = {}, graceful = false }: Deleting = {}): Promise<Answer> {
    const grace = graceful ? {} : { gracePeriodSeconds: 0 };
    const sent = { method: "DELETE", path: this.pathOf(object) } as const;
    return options === undefined
      ? this.send({ ...sent, query: { ...grace, ...query } })
      : this.send({ ...sent, query, body: deleteOptions({ ...grace, ...options }) });
  }

  /** Creates an object and returns the server's answer. */
  async make(described?: Described): Promise<JsonObject> {
    return expectWritten(await this.post(await this.draft(described)), [201]);
  }

  /** Changes metadata and returns the resulting object. */
  async change(object: unknown, metadata: JsonObject): Promise<JsonObject> {
    return expectWritten(await this.patch(object, { metadata }));
  }

  /** Returns the current object. */
  async now(object: unknown): Promise<JsonObject> {
    return expectOk(await this.probe.get(this.pathOf(object)));
  }

  /** Expects that an object has the same version as before. */
  async expectUnchanged(object: JsonObject, after: Answer): Promise<void> {
    const actual = versionOf(await this.now(object));
    expectSame(after.request, "the object unchanged, at version", { expected: versionOf(object), actual });
  }

  async expectGone(object: unknown): Promise<void> {
    expectCode(await this.probe.get(this.pathOf(object)), [404], " for a deleted object");
  }

  /** Opens a watch of this run's objects, from a version on. */
  watch(from: string, query: Query = {}): Promise<WatchStream> {
    const common = { watch: "true", resourceVersion: from, timeoutSeconds: 60 };
    return this.probe.watch(this.writer.path, { query: { labelSelector: this.writer.selector, ...common, ...query } });
  }

  /** Reads events up to one about `last`, which must arrive. */
  async told(stream: WatchStream, last: { readonly type: string; readonly object: unknown }): Promise<ReadEvents> {
    const name = at(last.object, "metadata", "name");
    const done: Parameters<typeof readEvents>[1]["done"] = ({ type, object }) =>
      type === last.type && at(object, "metadata", "name") === name;
    const read = await readEvents(stream, { within: this.probe.deadlines.prompt, done });
    return { ...read, seen: read.seen.filter(({ type }) => type !== "BOOKMARK") };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Objects that cannot be deleted now are retried at the end of the run, and then reported.
    await Promise.all(this.#names.map((name) => this.writer.remove(name).catch(() => false)));
  }
}
