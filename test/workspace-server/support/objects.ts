// Creates, reads and awaits objects of a workspace over HTTP.
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import type { Answer, Calls } from "../../_support/plain.ts";
import { definition } from "../crds/definitions.ts";

/** Object in tests. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of tests
export type Body = any;

/** Client of a logical cluster as a shard's administrator. */
export class ClusterClient {
  readonly #server: Calls;
  readonly #path: string;

  constructor(server: Calls, cluster = "root") {
    this.#server = server;
    this.#path = `/clusters/${cluster}`;
  }

  /** Creates an object at a path that ends with its plural. */
  async create(path: string, object: object): Promise<Body> {
    return ok(await this.send("POST", path, object)).body;
  }

  send(method: string, path: string, body?: object): Promise<Answer> {
    const headers = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {};
    return this.#server.send(`${method} ${this.#path}${path}` as `GET /`, body, { user: "root", headers });
  }

  get(path: string): Promise<Answer> {
    return this.#server.get(this.#path + path, { user: "root" });
  }

  async names(path: string): Promise<string[]> {
    return ok(await this.get(path)).body.items.map(({ metadata }: Body) => metadata.name);
  }

  async namespace(name: string): Promise<Body> {
    return this.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }

  async configMap(name: string, metadata: object = {}, namespace = "default"): Promise<Body> {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata } };
    return this.create(`/api/v1/namespaces/${namespace}/configmaps`, object);
  }

  async delete(path: string, policy?: "Background" | "Foreground" | "Orphan"): Promise<Answer> {
    return ok(await this.send("DELETE", path, policy && { propagationPolicy: policy }));
  }

  async patch(path: string, patch: object): Promise<Answer> {
    return ok(await this.send("PATCH", path, patch));
  }

  /** Defines `widgets.example.dev`, namespaced by default, and waits for it. */
  async widgets(scope: "Namespaced" | "Cluster" = "Namespaced"): Promise<void> {
    await this.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition({ spec: { scope } }));
    await this.until("/apis/example.dev/v1/widgets", ({ status }) => status === 200);
  }

  /** Repeats a request until the response is as expected. */
  async until(path: string, is: (answer: Answer) => boolean): Promise<Answer> {
    for (;;) {
      const answer = await this.get(path);
      if (is(answer)) return answer;
      await delay(5);
    }
  }

  async gone(path: string): Promise<void> {
    await this.until(path, ({ status }) => status === 404);
  }
}

/** Returns an owner reference to an object. */
export function ownerOf({ apiVersion, kind, metadata }: Body, more: object = {}): object {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, ...more };
}

function ok(answer: Answer): Answer {
  expect(answer.status, answer.text).to.be.below(300);
  return answer;
}
