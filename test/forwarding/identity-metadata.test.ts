// forward() of a kind by its identity across all logical clusters of a kcp, whose metadata-only responses include all kinds
// of that name, of any identity.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { forward } from "@virtual-workspaces/forwarding";
import { authenticated, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { startPlain } from "../_support/plain.ts";
import { credentialed, MEMOS, Memo } from "./upstream.ts";

const ALL = `${MEMOS.replace("/clusters/root/", "/clusters/*/")}/memos`;
const INITIAL = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

/** Server whose version increases with every request, like that of a store shared with other kinds; watches do not show that. */
class Kcp implements AsyncDisposable {
  #version = 10;
  readonly #server = createServer(({ url = "", headers: { accept = "" } }, res) => {
    if (url.includes("watch=true"))
      return void res.writeHead(200, { "content-type": "application/json" }).flushHeaders();
    this.#list(res, accept.includes("PartialObjectMetadataList"));
  });

  #list(res: ServerResponse, ofMetadata: boolean): void {
    this.#version += 1;
    const metadata = { resourceVersion: String(this.#version) };
    const theirs = { metadata: { name: "another", namespace: "a", resourceVersion: "5" } };
    const list = ofMetadata
      ? { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadataList", metadata, items: [theirs] }
      : { apiVersion: `${Memo.group}/${Memo.version}`, kind: Memo.listKind, metadata, items: [] };
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(list));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe("forward() of a kind by its identity, watched in all logical clusters", () => {
  it("stays current although others have kinds of that name, and the upstream sends no progress", async () => {
    await using kcp = new Kcp();
    const upstream = credentialed(await kcp.start());
    await using storage = forward({ resource: Memo as never, upstream, resourceIdentity: "f00", identity: "none" });
    const view = defineVirtualWorkspace({
      ...{ name: "memos", path: "/clusters/:cluster", wildcard: true, authorize: authenticated() },
      resources: [Memo.serve(storage as never)],
    });
    await using front = await startPlain([view]);
    await using first = await front.watch(ALL + INITIAL);
    await using second = await front.watch(ALL + INITIAL);
    for (const watch of [first, second]) {
      expect(watch.status).to.equal(200);
      expect((await watch.next()).type).to.equal("BOOKMARK");
    }
  });
});
