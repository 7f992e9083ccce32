import { setTimeout as delay } from "node:timers/promises";
import { expectCode, skip } from "../assertions/expect.ts";
import { at, listAt, textAt } from "../assertions/json.ts";
import type { HttpClient } from "../http/client.ts";
import { MERGE_PATCH } from "./remove.ts";
import { RUN_LABEL, type Writer } from "./writer.ts";

const NAMESPACES = "/api/v1/namespaces";
/** Interval between polls of a deletion, in ms. */
const AGAIN = 100;

/** Namespace that a check creates, with objects of the checked resource. */
export class RunNamespace {
  readonly name: string;
  readonly #writer: Writer;

  constructor(writer: Writer, name: string) {
    this.#writer = writer;
    this.name = name;
  }

  /** @throws CheckSkipped when namespaces cannot be created */
  static async make(writer: Writer): Promise<RunNamespace> {
    const { probe, run } = writer;
    const isThere = probe.discovery.resources.some(
      ({ group, name, verbs }) => group === "" && name === "namespaces" && verbs.includes("create"),
    );
    if (!isThere || writer.namespace === "")
      skip("the server has no writable namespaces, or the resource is cluster-scoped");
    const namespace = new RunNamespace(writer, `${run}-${writer.mark()}-${probe.resource.name}`.slice(0, 63));
    writer.rememberNamespace(namespace.name);
    const metadata = { name: namespace.name, labels: { [RUN_LABEL]: run } };
    const body = { apiVersion: "v1", kind: "Namespace", metadata };
    const answer = await writer.send({ method: "POST", path: NAMESPACES, body });
    if (answer.status === 403) skip("the user of this run may not create namespaces");
    expectCode(answer, [201]);
    return namespace;
  }

  get path(): string {
    return `${NAMESPACES}/${this.name}`;
  }

  /** Path of the resource's objects in the namespace. */
  get objects(): string {
    return this.#writer.probe.namespacePath(this.name);
  }

  /** Deletes the namespace and its contents, and removes finalizers. @returns whether it is gone */
  async remove(client: HttpClient, within: number): Promise<boolean> {
    const deadline = performance.now() + within;
    await this.#writer.send({ method: "DELETE", path: this.path, client });
    for (;;) {
      const listed = await client.call(this.objects, { query: { labelSelector: this.#writer.selector } });
      if (listed.status === 200) await this.#release(listed.body, client);
      if ((await client.call(this.path)).status === 404) {
        this.#writer.forgetNamespace(this.name);
        return true;
      }
      if (performance.now() > deadline) return false;
      await delay(AGAIN);
    }
  }

  async #release(list: Buffer, client: HttpClient): Promise<void> {
    for (const object of listAt(JSON.parse(list.toString("utf8")), "items")) {
      if (listAt(object, "metadata", "finalizers").length === 0) continue;
      if (at(object, "metadata", "labels", RUN_LABEL) !== this.#writer.run) continue;
      const path = `${this.objects}/${textAt(object, "metadata", "name")}`;
      const body = { metadata: { finalizers: null } };
      await this.#writer.send({ method: "PATCH", path, type: MERGE_PATCH, body, client });
    }
  }
}
