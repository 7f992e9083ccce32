import { setTimeout as delay } from "node:timers/promises";
import { expectCode, skip } from "../assertions/expect.ts";
import { at, listAt, textAt } from "../assertions/json.ts";
import type { HttpClient } from "../http/client.ts";
import { MERGE_PATCH, RUN_LABEL, type Writer } from "./writer.ts";

const NAMESPACES = "/api/v1/namespaces";
/** Between two looks at what is to go, ms. */
const AGAIN = 100;

/** A namespace that a check makes, and what it puts there of the resource that is checked. */
export class RunNamespace {
  readonly name: string;
  readonly #writer: Writer;

  constructor(writer: Writer, name: string) {
    this.#writer = writer;
    this.name = name;
  }

  /** @throws CheckSkipped where namespaces cannot be made */
  static async make(writer: Writer): Promise<RunNamespace> {
    const { probe, run } = writer;
    const isThere = probe.discovery.resources.some(
      ({ group, name, verbs }) => group === "" && name === "namespaces" && verbs.includes("create"),
    );
    if (!isThere || writer.namespace === "") skip("there are no namespaces to be made, or the resource is in none");
    const namespace = new RunNamespace(writer, `${run}-${writer.mark()}-${probe.resource.name}`.slice(0, 63));
    writer.rememberNamespace(namespace.name);
    const metadata = { name: namespace.name, labels: { [RUN_LABEL]: run } };
    const body = { apiVersion: "v1", kind: "Namespace", metadata };
    const answer = await writer.send({ method: "POST", path: NAMESPACES, body });
    if (answer.status === 403) skip("the user of this run may not make namespaces");
    expectCode(answer, [201]);
    return namespace;
  }

  get path(): string {
    return `${NAMESPACES}/${this.name}`;
  }

  /** Where objects of the resource are in it. */
  get objects(): string {
    return this.#writer.probe.namespacePath(this.name);
  }

  /** Deletes it with what is in it, whatever holds that. @returns whether it is gone */
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
