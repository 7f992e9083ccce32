// A credential that another valid one replaces in place: no reader sees a gap, and nothing uses the former one afterwards.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { commandProvider, namespaceOf, Space, SpaceProviderDesc } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { localNode } from "../../../tools/install.mjs";
import { tree } from "../../_setup/tree.ts";
import { until } from "../../_support/until.ts";
import { KeptManagement } from "./support/kept-management.ts";
import { Lent, when } from "./support/lent.ts";
import { conditionOf, isReady, Management } from "./support/management.ts";
import { Opened } from "./support/processes.ts";
import { MAPS, Viewed } from "./support/viewed.ts";

const HERE = namespaceOf("here");

/** Server with one valid token at a time, which answers each request once it is released. */
class Guarded implements AsyncDisposable {
  token = "former";
  /** Tokens of the answered requests in order, with the status. */
  readonly answered: string[] = [];
  /** Delays the answer to a request. */
  hold: (token: string) => Promise<void> | void = () => undefined;
  readonly #server = createServer(async ({ headers: { authorization = "" }, url }, res) => {
    const token = authorization.slice("Bearer ".length);
    await this.hold(token);
    const isKnown = token === this.token || url === "/readyz";
    if (url !== "/readyz") this.answered.push(`${token} ${isKnown ? 200 : 401}`);
    const body = isKnown
      ? { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "menu", namespace: "default", uid: "1" } }
      : { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Unauthorized", code: 401 };
    res.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" }).end(JSON.stringify(body));
  });

  static async start(): Promise<Guarded> {
    const guarded = new Guarded();
    guarded.#server.listen(0, "127.0.0.1");
    await once(guarded.#server, "listening");
    return guarded;
  }

  /** Returns a kubeconfig with the valid token. */
  get kubeconfig(): string {
    const { port } = this.#server.address() as AddressInfo;
    const name = "guarded";
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": name,
      clusters: [{ name, cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name, user: { token: this.token } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

describe("a credential that is replaced in place", function () {
  this.timeout(60_000);

  it("in the Secret of a provider changes no status of its Spaces, also before the provider has listed them again", async () => {
    await using management = await Management.start();
    await using running = await KeptManagement.start(management);
    const { kept } = running;
    await management.keep("provider-here", { password: "former" });
    const secretRef = { name: "provider-here", namespace: "default" };
    await management.client.resource(SpaceProviderDesc).mergePatch("here", { spec: { secretRef } });
    for (const name of ["one", "two"]) kept.set(name);
    for (const name of ["one", "two"]) await management.until(HERE, name, isReady);
    const told: string[] = [];
    const [spaces, providers] = [
      management.client.resource(Space).in(HERE),
      management.client.resource(SpaceProviderDesc),
    ];
    await using over = new AsyncDisposableStack();
    const stop = new AbortController();
    over.defer(() => stop.abort());
    const { resourceVersion = "" } = (await spaces.list({ limit: 1 })).metadata;
    const follow = async (): Promise<void> => {
      for await (const { type, object } of spaces.watch({ resourceVersion, signal: stop.signal }))
        if (type !== "BOOKMARK" && object.metadata.name !== "late")
          told.push(`${object.metadata.name} ${conditionOf(object, "Ready")}`);
    };
    const followed = follow().catch(() => undefined);
    const isHeld = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    kept.before = (call) => {
      if (call !== "list") return undefined;
      isHeld.resolve();
      return held.promise;
    };
    await management.keep("provider-here", { password: "latter" });
    await isHeld.promise;
    // What is known of the provider stays known: a new Space is created meanwhile.
    await management.make(HERE, "late");
    await until(() => kept.calls.includes("create late"));
    expect(conditionOf(await providers.get("here"), "Ready")).to.equal("True");
    held.resolve();
    await management.until(HERE, "late", isReady);
    expect(told).to.deep.equal([]);
    // A space that the provider lacks by now disappears with the list.
    kept.spaces.delete("two");
    kept.before = () => undefined;
    await management.keep("provider-here", { password: "last" });
    await management.until(HERE, "two", (space) => space === undefined);
    expect(told.filter((one) => one.startsWith("one"))).to.deep.equal([]);
    stop.abort();
    await followed;
  });

  it("also serves requests that were on the way with the former one", async () => {
    await using lent = await Lent.start();
    await using guarded = await Guarded.start();
    await lent.management.keep("external-guarded", { kubeconfig: guarded.kubeconfig });
    await lent.management.make("default", "guarded", { Type: "imported", accessscopetype: "External" });
    await lent.management.until("default", "guarded", isReady);
    await using viewed = await Viewed.over(lent);
    await viewed.engaged(1);
    const [isHeld, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    guarded.hold = (token) => {
      if (token !== "former") return undefined;
      isHeld.resolve();
      return held.promise;
    };
    const path = `${MAPS}/menu`;
    const answer = viewed.get(path, "-/guarded");
    await isHeld.promise;
    guarded.answered.length = 0;
    guarded.token = "latter";
    await lent.management.keep("external-guarded", { kubeconfig: guarded.kubeconfig });
    await when(viewed.spaces, () => viewed.spaces.space("default/guarded").config.credential?.token === "latter");
    held.resolve();
    expect((await answer).status).to.equal(200);
    expect((await viewed.get(path, "-/guarded")).status).to.equal(200);
    expect(guarded.answered.filter((one) => one.startsWith("former"))).to.have.members(
      guarded.answered.filter((one) => one === "former 401"),
    );
  });

  it("of a tool's cluster is taken from the tool when the former one is rejected", async () => {
    await using guarded = await Guarded.start();
    using folder = tree({});
    const file = join(folder.path, "kubeconfig");
    const print = (): void => writeFileSync(file, guarded.kubeconfig);
    print();
    const type = commandProvider({
      name: "tool",
      command: localNode,
      list: ["-e", "console.log('one')"],
      kubeconfig: () => ["-e", `process.stdout.write(require("node:fs").readFileSync(${JSON.stringify(file)}))`],
    });
    const { signal } = new AbortController();
    await using tool = new Opened(await type.open({ name: "here", secret: {}, log: () => undefined, signal }));
    const before = await tool.get("one");
    expect(before?.phase).to.equal("Ready");
    guarded.token = "latter";
    expect(await tool.get("one")).to.deep.include({
      phase: "Initializing",
      message: "the server rejects the credential of its kubeconfig",
    });
    print();
    const after = await tool.get("one");
    expect([after?.phase, after?.id]).to.deep.equal(["Ready", before?.id]);
    expect(after?.accessVersion).not.to.equal(before?.accessVersion);
    const { external = "" } = (await tool.provider.access("one", { parent: undefined, signal })) ?? {};
    expect(JSON.parse(external).users[0].user.token).to.equal("latter");
  });
});
