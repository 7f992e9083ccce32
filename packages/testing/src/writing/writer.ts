import { randomUUID } from "node:crypto";
import { CheckFailure, CheckSkipped, excerpt, expectCode, expectJson, skip } from "../assertions/expect.ts";
import { type JsonObject, textAt } from "../assertions/json.ts";
import { type Answer, TransportError } from "../http/answer.ts";
import type { HttpClient, Query } from "../http/client.ts";
import type { CollectionProbe } from "../probe/collection-probe.ts";
import type { ConformanceWrites, Mutations, ObjectName } from "../probe/options.ts";
import { MERGE_PATCH, removeObject } from "./remove.ts";
import { candidates, type Sample } from "./samples.ts";

/** Label of every object that a run creates. Its value identifies the run. */
export const RUN_LABEL = "conformance.virtual-workspaces.dev/run";
/** Returns a new name of a run. Go encodes 51e08781 in YAML without quotes, and other parsers read a number. */
export function newRun(): string {
  return `run${randomUUID().slice(0, 8)}`;
}

const JSON_TYPE = "application/json";
export const JSON_PATCH = "application/json-patch+json";
export const APPLY_PATCH = "application/apply-patch+yaml";
const NEEDED = ["create", "delete", "patch"] as const;

/** Metadata that checks add to an object. */
export interface Described {
  readonly labels?: JsonObject;
  readonly annotations?: JsonObject;
  readonly finalizers?: readonly string[];
}

/** Object to send. */
export interface ObjectDraft extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string; readonly labels: JsonObject };
}

/** Write request. Its body is JSON, or text that is sent unchanged. */
export interface WriteRequest {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly raw?: string | Buffer;
  /** Media type of the body. @default application/json */
  readonly type?: string;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  /** Client that sends the request. @default the user of the run */
  readonly client?: HttpClient | undefined;
}

export interface WriterOptions {
  readonly options: ConformanceWrites;
  /** Identifies the run in the objects that it creates. */
  readonly run: string;
  /** Client of a user who may patch but not create. */
  readonly patchOnly: HttpClient | undefined;
}

/** Writes one resource for the checks. Remembers every object that they may have created, so that none remains. */
export class Writer {
  readonly probe: CollectionProbe;
  readonly run: string;
  readonly patchOnly: HttpClient | undefined;
  /** Namespace, or "" for cluster-scoped resources. */
  readonly namespace: string;
  readonly #options: ConformanceWrites;
  readonly #names = new Map<string, ObjectName>();
  readonly #namespaces = new Set<string>();
  #made = 0;
  #sample: Promise<Sample> | undefined;

  constructor(probe: CollectionProbe, { run, options, patchOnly }: WriterOptions) {
    this.probe = probe;
    this.run = run;
    this.patchOnly = patchOnly;
    this.#options = options;
    this.namespace = probe.resource.namespaced ? (options.namespace ?? "default") : "";
  }

  /** Path for creating objects. */
  get path(): string {
    return this.namespace === "" ? this.probe.path : this.probe.namespacePath(this.namespace);
  }

  pathOf(name: string): string {
    return this.probe.pathOf({ namespace: this.namespace, name });
  }

  /** Selector for the objects of this run, of all resources. */
  get selector(): string {
    return `${RUN_LABEL}=${this.run}`;
  }

  /** Names that may be in use. */
  get names(): readonly ObjectName[] {
    return [...this.#names.values()];
  }

  /** Namespaces that the run has created and that may still exist. */
  get namespaces(): readonly string[] {
    return [...this.#namespaces];
  }

  /** Whether the server deletes dependents and the contents of namespaces ({@link ConformanceWrites.collects}). */
  get collects(): boolean {
    return this.#options.collects === true;
  }

  /** Returns a new name, and remembers it for the cleanup. */
  #name(prefix: string): string {
    const name = `${prefix}${this.run}-${++this.#made}`;
    this.remember(name);
    return name;
  }

  /** Returns a text that no other call returns. */
  mark(): string {
    return `check-${++this.#made}`;
  }

  remember(name: string): void {
    this.#names.set(name, { namespace: this.namespace, name });
  }

  forget(name: string): void {
    this.#names.delete(name);
  }

  rememberNamespace(name: string): void {
    this.#namespaces.add(name);
  }

  forgetNamespace(name: string): void {
    this.#namespaces.delete(name);
  }

  /** Returns a valid object with a new name. @throws CheckSkipped when none can be built */
  async draft(described: Described = {}): Promise<ObjectDraft> {
    this.#sample ??= this.#findSample();
    return this.#draftOf(await this.#sample, described);
  }

  /** Creates objects for checks of reads. Ignores failures, because the checks of writes report them. */
  async seed(count: number): Promise<void> {
    const { verbs } = this.probe.resource;
    if (!verbs.includes("create") || !verbs.includes("delete")) return;
    try {
      for (let made = 0; made < count; made++)
        await this.send({ method: "POST", path: this.path, body: await this.draft() });
    } catch (error) {
      if (!(error instanceof CheckSkipped || error instanceof CheckFailure || error instanceof TransportError))
        throw error;
    }
  }

  send({ method, path, body, raw, type = JSON_TYPE, query = {}, headers = {}, client }: WriteRequest): Promise<Answer> {
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const about = content === undefined ? {} : { body: content, headers: { ...headers, "content-type": type } };
    return (client ?? this.probe.client).call(path, { method, query, headers, ...about });
  }

  /** Deletes an object ({@link removeObject}). Returns true when it no longer exists. @throws TransportError */
  async remove(name: string, client: HttpClient = this.probe.client): Promise<boolean> {
    const isGone = await removeObject(client, { path: this.pathOf(name), verbs: this.probe.resource.verbs });
    if (isGone) this.forget(name);
    return isGone;
  }

  /** Returns the first sample that the server accepts in a dry run. */
  async #findSample(): Promise<Sample> {
    const reasons: string[] = [];
    for await (const { source, sample, ...rest } of candidates(this.probe, this.#options.samples ?? [])) {
      if (sample === undefined) {
        reasons.push(`${source}: ${"why" in rest ? rest.why : ""}`);
        continue;
      }
      const body = this.#draftOf(sample, {});
      const answer = await this.send({ method: "POST", path: this.path, body, query: { dryRun: "All" } });
      if (answer.status === 403) skip(`the user of this run may not create: ${messageOf(answer)}`);
      if (answer.status < 300) return sample;
      reasons.push(`${source}: ${messageOf(answer)}`);
    }
    return skip(`no valid object could be built; give a sample. ${reasons.join("; ")}`);
  }

  #draftOf({ prefix, labels, annotations, content }: Sample, { finalizers, ...more }: Described): ObjectDraft {
    const { apiVersion, resource } = this.probe;
    const own = { ...annotations, ...more.annotations };
    return {
      ...structuredClone(content),
      apiVersion,
      kind: resource.kind,
      metadata: {
        name: this.#name(prefix),
        ...(this.namespace === "" ? {} : { namespace: this.namespace }),
        labels: { ...labels, ...more.labels, [RUN_LABEL]: this.run },
        ...(Object.keys(own).length === 0 ? {} : { annotations: own }),
        ...(finalizers === undefined ? {} : { finalizers }),
      },
    };
  }
}

/** Returns the object after a write. A 403 skips the check. */
export function expectWritten(answer: Answer, codes: readonly number[] = [200]): JsonObject {
  if (answer.status === 403) skip(`the user of this run may not ${answer.request.method} ${answer.request.url}`);
  expectCode(answer, codes);
  return expectJson(answer);
}

/** Returns the message of a Status, or an excerpt of the answer. */
export function messageOf(answer: Answer): string {
  try {
    return textAt(JSON.parse(answer.body.toString("utf8")), "message") || excerpt(answer);
  } catch {
    return excerpt(answer);
  }
}

/** Returns hooks that change objects over HTTP, for checks of reads. */
export function mutationsOf(writer: Writer): Mutations {
  const { verbs } = writer.probe.resource;
  let changes = 0;
  return {
    create: async () => {
      if (NEEDED.some((verb) => !verbs.includes(verb))) return undefined;
      const draft = await writer.draft();
      expectWritten(await writer.send({ method: "POST", path: writer.path, body: draft }), [201]);
      return { namespace: writer.namespace, name: draft.metadata.name };
    },
    update: async (_, { name }) => {
      const body = { metadata: { annotations: { "conformance.virtual-workspaces.dev/change": String(++changes) } } };
      const path = writer.pathOf(name);
      expectWritten(await writer.send({ method: "PATCH", path, type: MERGE_PATCH, body }));
    },
    delete: async (_, { name }) => {
      const query = { gracePeriodSeconds: 0 };
      const answer = await writer.send({ method: "DELETE", path: writer.pathOf(name), query });
      if (answer.status !== 404) expectWritten(answer, [200, 202]);
    },
  };
}
