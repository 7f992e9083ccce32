// kubectl and client-go's informer, while the server is still reading the objects from their source: 429 with Retry-After.
import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Storage } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { kubeconfigHome, startTls } from "../_support/server.ts";
import { building } from "./support/build.ts";
import { GoClient } from "./support/client.ts";
import { builtKubectl, kubectl } from "./support/kubectl.ts";
import { QUOTES, Quote, type QuoteContent, quotesView } from "./support/views.ts";

/** Serves a quote that has been read once `count` lists and watches got 429. */
async function start(count: number) {
  const read = Promise.withResolvers<void>();
  const codes: number[] = [];
  const quote = {
    ...{ apiVersion: "example.dev/v1", kind: "Quote", spec: { text: "Edit is the new ssh." } },
    metadata: { name: "ssh", uid: "1", resourceVersion: "5" },
  };
  const slow: Storage<ObjectOf<QuoteContent>> = {
    list: async () => {
      await read.promise;
      return { items: [quote], resourceVersion: "5" };
    },
    changes: async function* (_scope, _after, { signal }) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
    head: () => "5",
    shareKey: () => "",
  };
  const server = await startTls([quotesView([Quote.serve(slow as never)])], {
    requestTimeout: 1_000,
    onRequest: ({ verb, code }) => {
      if (verb !== "list" && verb !== "watch") return;
      codes.push(code);
      if (codes.length === count) read.resolve();
    },
  });
  const home = await kubeconfigHome({ authority: server.authority, port: server.port, contexts: QUOTES });
  return {
    ...{ codes, home },
    [Symbol.asyncDispose]: async () => {
      await server.close();
      home[Symbol.dispose]();
    },
  };
}

describe("clients of a source that has not been read yet", function () {
  this.timeout(60_000);
  before(building("clients"));

  it("kubectl waits and retries, without a message", async () => {
    await using stage = await start(2);
    const output = await kubectl(builtKubectl(), stage.home, ["get", "quotes", "-o", "name"]);
    expect(output).to.deep.equal({ code: 0, stdout: "quote.example.dev/ssh", stderr: "" });
    expect(stage.codes).to.deep.equal([429, 429, 200]);
  });

  it("an informer waits and retries, and then holds the objects", async () => {
    await using stage = await start(2);
    await using client = GoClient.start("informer", { kubeconfig: stage.home.kubeconfig });
    expect((await client.event("synced", undefined, 30_000))["count"]).to.equal(1);
    expect(stage.codes.slice(0, 2)).to.deep.equal([429, 429]);
    expect(client.noise()).to.deep.equal([]);
    await client.end();
  });
});
