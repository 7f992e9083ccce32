import { CheckFailure, CheckSkipped, excerpt, expectCode, expectJson, skip } from "../assertions/expect.ts";
import { at, type JsonObject, listAt, textAt } from "../assertions/json.ts";
import { type Answer, TransportError } from "../http/answer.ts";
import type { HttpClient, Query } from "../http/client.ts";
import type { CollectionProbe } from "../probe/collection-probe.ts";
import type { ConformanceWrites, Mutations, ObjectName } from "../probe/options.ts";
import { candidates, type Sample } from "./samples.ts";

/** The label of everything that a run makes; its value is the run's. */
export const RUN_LABEL = "conformance.virtual-workspaces.dev/run";
const JSON_TYPE = "application/json";
export const MERGE_PATCH = "application/merge-patch+json";
export const JSON_PATCH = "application/json-patch+json";
export const APPLY_PATCH = "application/apply-patch+yaml";
const NEEDED = ["create", "delete", "patch"] as const;

/** The texts of an object that checks give it. */
export interface Described {
  readonly labels?: JsonObject;
  readonly annotations?: JsonObject;
  readonly finalizers?: readonly string[];
}

/** An object as it is sent. */
export interface ObjectDraft extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string; readonly labels: JsonObject };
}

/** A write: a body that is JSON, or text that is sent as it is. */
export interface WriteRequest {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly raw?: string | Buffer;
  /** @default application/json */
  readonly type?: string;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  /** @default as the user of the run */
  readonly client?: HttpClient | undefined;
}

export interface WriterOptions {
  readonly options: ConformanceWrites;
  /** Names the run in what it makes. */
  readonly run: string;
  /** As whoever may patch but not create. */
  readonly patchOnly: HttpClient | undefined;
}

/** How checks write one resource. Knows all that they may have made, so that nothing stays. */
export class Writer {
  readonly probe: CollectionProbe;
  readonly run: string;
  readonly patchOnly: HttpClient | undefined;
  /** "" where objects have none. */
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

  /** Where objects are made. */
  get path(): string {
    return this.namespace === "" ? this.probe.path : this.probe.namespacePath(this.namespace);
  }

  pathOf(name: string): string {
    return this.probe.pathOf({ namespace: this.namespace, name });
  }

  /** Selects what this run has made, of all resources. */
  get selector(): string {
    return `${RUN_LABEL}=${this.run}`;
  }

  /** Names that may be in use. */
  get names(): readonly ObjectName[] {
    return [...this.#names.values()];
  }

  /** Namespaces that it has made, and that may be there. */
  get namespaces(): readonly string[] {
    return [...this.#namespaces];
  }

  /** Whether the server sees to what is owned or in namespaces ({@link ConformanceWrites.collects}). */
  get collects(): boolean {
    return this.#options.collects === true;
  }

  /** A name that no object has, of an object that will be deleted. */
  #name(prefix: string): string {
    const name = `${prefix}${this.run}-${++this.#made}`;
    this.remember(name);
    return name;
  }

  /** A text that nobody else was given. */
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

  /** A valid object of a new name. @throws CheckSkipped when none can be made */
  async draft(described: Described = {}): Promise<ObjectDraft> {
    this.#sample ??= this.#findSample();
    return this.#draftOf(await this.#sample, described);
  }

  /** Makes some objects for checks of reads to look at. What stands in the way is for the checks of writes to tell. */
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

  /**
   * Deletes an object whatever holds it. Nothing that was made is left if it gives true.
   *
   * @throws TransportError
   */
  async remove(name: string, client: HttpClient = this.probe.client): Promise<boolean> {
    const path = this.pathOf(name);
    for (let attempt = 0; attempt < 3; attempt++) {
      const answer = await this.send({ method: "DELETE", path, query: { gracePeriodSeconds: 0 }, client });
      if (answer.status === 404) {
        this.forget(name);
        return true;
      }
      // Whoever may not delete has perhaps made nothing.
      if (answer.status >= 400) return (await client.call(path)).status === 404;
      if (finalizersIn(answer).length > 0) await this.#release(path, client);
    }
    return false;
  }

  /** Takes the finalizers away. */
  async #release(path: string, client: HttpClient): Promise<void> {
    if (this.probe.resource.verbs.includes("patch")) {
      await this.send({ method: "PATCH", path, type: MERGE_PATCH, body: { metadata: { finalizers: null } }, client });
      return;
    }
    const found = await client.call(path);
    if (found.status !== 200) return;
    const object = expectJson(found);
    const { finalizers: _all, ...metadata } = at(object, "metadata") as JsonObject;
    await this.send({ method: "PUT", path, body: { ...object, metadata }, client });
  }

  /** The first that the server would take, tried as a dry run. */
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
    return skip(`no valid object could be made; give a sample. ${reasons.join("; ")}`);
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

/** What a write did, where the user of the run may do it. */
export function expectWritten(answer: Answer, codes: readonly number[] = [200]): JsonObject {
  if (answer.status === 403) skip(`the user of this run may not ${answer.request.method} ${answer.request.url}`);
  expectCode(answer, codes);
  return expectJson(answer);
}

/** The message of a Status, or as much as there is to read. */
export function messageOf(answer: Answer): string {
  try {
    return textAt(JSON.parse(answer.body.toString("utf8")), "message") || excerpt(answer);
  } catch {
    return excerpt(answer);
  }
}

function finalizersIn(answer: Answer): readonly unknown[] {
  try {
    return listAt(JSON.parse(answer.body.toString("utf8")), "metadata", "finalizers");
  } catch {
    return [];
  }
}

/** The hooks that checks of the read half change objects with, over the wire. */
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
