import assert from "node:assert/strict";
import { pathOf } from "../_servers/stored-kinds.ts";
import { fetchOnce, getRequest } from "./http.ts";
import type { Measurable } from "./remote.ts";
import { percentile } from "./statistics.ts";
import { writeLoad, writeRequest } from "./writes.ts";

export const WRITERS = 64;
export const BEARER = { Authorization: "Bearer bench-token" };
const FIRST = "n-00000000";

/** What a round of creates came to. */
export interface Created extends Readonly<Record<string, number>> {
  /** Requests per second. */
  readonly rate: number;
  /** CPU of the server per request, µs. */
  readonly cpu: number;
  /** Latency, ms. */
  readonly p99: number;
  /** Processors that the load took: well below one, or it is what was measured. */
  readonly load: number;
}

/** Creates of objects of one size, each under a name of its own. */
export class Creates {
  readonly #template: Buffer;
  readonly #text: string;
  #made = 0;

  constructor(bytes: number) {
    const object = { apiVersion: "bench.example/v1", kind: "Note", metadata: { name: FIRST }, spec: { text: "" } };
    this.#text = "x".repeat(bytes - JSON.stringify(object).length);
    object.spec.text = this.#text;
    const headers = { ...BEARER, "Content-Type": "application/json" };
    this.#template = writeRequest(`POST ${pathOf("Note")}`, JSON.stringify(object), headers);
  }

  /** What is acknowledged can be read again. */
  async check(port: number): Promise<void> {
    const { status, body } = await fetchOnce(port, this.#next());
    assert.equal(status, 201, body.toString());
    const { metadata, spec } = JSON.parse(body.toString());
    assert.equal(spec.text, this.#text);
    const found = await fetchOnce(port, getRequest(pathOf("Note", metadata.name), BEARER));
    assert.ok(found.body.equals(body));
  }

  async measure(
    { server, port }: { readonly server: Measurable; readonly port: number },
    milliseconds: number,
  ): Promise<Created> {
    const took: number[] = [];
    const began: number[] = [];
    const next = (connection: number, last: { readonly status: number } | undefined): Buffer => {
      assert.equal(last?.status ?? 201, 201);
      const now = performance.now();
      if (last !== undefined) took.push(now - (began[connection] ?? Number.NaN));
      began[connection] = now;
      return this.#next();
    };
    const [own, before, start] = [process.cpuUsage(), await server.ask("cpu"), performance.now()];
    const answers = await writeLoad({ port, connections: WRITERS, milliseconds, next });
    const seconds = (performance.now() - start) / 1000;
    const { user, system } = process.cpuUsage(own);
    const cpu = ((await server.ask("cpu")) - before) / answers;
    const p99 = percentile(Float64Array.from(took).sort(), 0.99);
    return { rate: answers / seconds, cpu, p99, load: (user + system) / 1e6 / seconds };
  }

  #next(): Buffer {
    const request = Buffer.from(this.#template);
    request.write(String(this.#made++).padStart(8, "0"), request.indexOf(FIRST) + 2, "latin1");
    return request;
  }
}
