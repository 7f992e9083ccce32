// Sends requests to a fleet, as a client does that knows no replicas.
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { Minter } from "@virtual-workspaces/framework/storage";
import { type Fleet, ROOT } from "./fleet.ts";

/** An answer. */
export interface Came {
  readonly code: number;
  readonly body: KubeObject & {
    readonly items: readonly KubeObject[];
    readonly code?: number;
    readonly message?: string;
  };
}

/** Client for the notes of `root`. */
export class Notes {
  readonly #fleet: Fleet;
  static readonly PATH = "/notes/clusters/root/apis/example.dev/v1/namespaces/default/notes";

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  async send(method: string, path = "", body?: object): Promise<Came> {
    const res = await this.#open(method, path, body);
    let text = "";
    for await (const piece of res.setEncoding("utf8")) text += piece;
    return { code: res.statusCode ?? 0, body: JSON.parse(text === "" ? "{}" : text) };
  }

  async #open(method: string, path: string, body?: object): Promise<IncomingMessage> {
    const { url, ca } = this.#fleet;
    const headers = { ...ROOT, ...(body && { "content-type": "application/json" }) };
    const req = request(url + Notes.PATH + path, { ca, agent: false, method, headers });
    req.end(body && JSON.stringify(body));
    const [res] = (await once(req, "response")) as [IncomingMessage];
    return res;
  }

  make(name: string, text = name): Promise<Came> {
    return this.send("POST", "", { apiVersion: "example.dev/v1", kind: "Note", metadata: { name }, spec: { text } });
  }

  /** Returns the minter of a list's version: the process that serves notes. */
  async home(): Promise<number | undefined> {
    return minterOf((await this.send("GET")).body);
  }

  /** Yields the events of a watch until it ends. */
  async *watch(resourceVersion: string): AsyncGenerator<{ readonly type: string; readonly object: Came["body"] }> {
    const res = await this.#open("GET", `?watch=1&resourceVersion=${resourceVersion}`);
    let text = "";
    try {
      for await (const piece of res.setEncoding("utf8")) {
        const lines = (text + piece).split("\n");
        text = lines.pop() ?? "";
        for (const line of lines) yield JSON.parse(line);
      }
    } catch {} // cut off because the process was killed
  }
}

/** Returns the minter in a version. */
export function minterOf({ metadata }: Pick<KubeObject, "metadata">): number | undefined {
  return Minter.of(metadata.resourceVersion ?? "");
}
