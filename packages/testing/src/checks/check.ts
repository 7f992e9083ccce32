import { skip } from "../assertions/expect.ts";
import type { CheckInfo } from "../assertions/perform.ts";
import type { ConformanceResource } from "../assertions/report.ts";
import { CollectionProbe, type CollectionProbeOptions } from "../probe/collection-probe.ts";
import type { Mutations, ObjectName } from "../probe/options.ts";
import type { ServerProbe } from "../probe/server-probe.ts";
import { mutationsOf, Writer, type WriterOptions } from "../writing/writer.ts";

/** Check of a server as a whole. */
export interface ServerCheck extends CheckInfo {
  readonly scope: "server";
  /** @throws CheckFailure, CheckSkipped */
  run(probe: ServerProbe): Promise<void>;
}

export type CheckedVerb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** Check of one resource. */
export interface ResourceCheck extends CheckInfo {
  readonly scope: "resource";
  /** Verbs that the resource must advertise; otherwise the check is skipped. */
  readonly verbs: readonly CheckedVerb[];
  /** Whether the check changes objects through the hooks of the run. @default false */
  readonly mutates?: boolean;
  /** Whether the check writes objects over HTTP. It runs only when writes are allowed. @default false */
  readonly writes?: boolean;
  /** Whether the check runs even when the resource cannot be listed. @default false */
  readonly evenUnlistable?: boolean;
  /** @throws CheckFailure, CheckSkipped */
  run(probe: ResourceProbe): Promise<void>;
}

export type Check = ServerCheck | ResourceCheck;

export interface ResourceProbeOptions extends CollectionProbeOptions {
  readonly mutate: Mutations | undefined;
  readonly writes: WriterOptions | undefined;
}

/** Sends the requests of checks for one resource, and writes it. */
export class ResourceProbe extends CollectionProbe {
  readonly mutations: Mutations | undefined;
  /** Writer, when the run may write. */
  readonly writer: Writer | undefined;

  constructor(options: ResourceProbeOptions) {
    super(options);
    this.writer = options.writes === undefined ? undefined : new Writer(this, options.writes);
    this.mutations = options.mutate ?? (this.writer === undefined ? undefined : mutationsOf(this.writer));
  }
}

/** Objects that a check creates. The end of its `await using` block deletes those that remain. */
export class Changes implements AsyncDisposable {
  readonly #resource: ConformanceResource;
  readonly #hooks: Mutations;
  readonly #made = new Map<string, ObjectName>();

  constructor({ resource, mutations }: ResourceProbe) {
    if (mutations === undefined) skip("needs the mutate hooks");
    this.#resource = resource;
    this.#hooks = mutations;
  }

  async create(): Promise<ObjectName> {
    const name = await this.#hooks.create(this.#resource);
    if (name === undefined) skip("the mutate hooks cannot create objects of this resource");
    this.#made.set(`${name.namespace}/${name.name}`, name);
    return name;
  }

  async update(name: ObjectName): Promise<void> {
    await this.#hooks.update(this.#resource, name);
  }

  async delete(name: ObjectName): Promise<void> {
    this.#made.delete(`${name.namespace}/${name.name}`);
    await this.#hooks.delete(this.#resource, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.#made.values()) await this.#hooks.delete(this.#resource, name);
  }
}
