// Views of objects on Kubernetes' own server, through kubectl and client-go, while that server is killed and restarted.
import { Client, type ResourceClient } from "@virtual-workspaces/client";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { building } from "./support/build.ts";
import { GoClient } from "./support/client.ts";
import { ForwardingServer, startForwarded } from "./support/forwarded.ts";
import { builtKubectl, kubectl } from "./support/kubectl.ts";
import { Quote, type QuoteContent } from "./support/views.ts";

type QuoteClient = ResourceClient<QuoteContent>;

const quote = (name: string, text: string, labels: Record<string, string> = {}) => ({
  metadata: { name, labels },
  spec: { text },
});

/** Returns the versions on the upstream server by name. */
async function versions(quotes: QuoteClient): Promise<Map<string, string>> {
  const { items } = await quotes.list();
  return new Map(items.map(({ metadata: { name = "", resourceVersion = "" } }) => [name, resourceVersion]));
}

async function changed(quotes: QuoteClient, name: string, text: string): Promise<void> {
  await quotes.update({ ...(await quotes.get(name)), spec: { text } });
}

describe("a view of Kubernetes' own server", function () {
  this.timeout(120_000);
  before(async function () {
    await building("clients").call(this);
    await building("oracle").call(this);
  });

  it("lets kubectl read and write: create, apply on both sides, patch, conflict, delete", async () => {
    await using stage = await startForwarded();
    for (const name of ["quotes", "shown"]) {
      using home = await stage.server.home(name);
      const run = async (...args: readonly string[]): Promise<string> => {
        const { code, stdout, stderr } = await kubectl(builtKubectl(), home, args);
        expect(code, `kubectl ${args.join(" ")}: ${stderr}`).to.equal(0);
        return stdout;
      };
      using files = await stage.server.home(name);
      const file = `${files.home}/quote.yaml`;
      const manifest = (text: string): string =>
        JSON.stringify({ apiVersion: "example.dev/v1", kind: "Quote", ...quote(name, text) });
      const { writeFile } = await import("node:fs/promises");
      await writeFile(file, manifest("one"));
      expect(await run("create", "-f", file)).to.equal(`quote.example.dev/${name} created`);
      await writeFile(file, manifest("two"));
      await run("apply", "-f", file);
      await writeFile(file, manifest("three"));
      expect(await run("apply", "--server-side", "--force-conflicts", "-f", file)).to.contain("serverside-applied");
      await run("patch", "quote", name, "--type=merge", "-p", '{"spec":{"author":"kubectl"}}');
      expect(await run("get", "quotes")).to.match(new RegExp(`^NAME +TEXT +AGE\n(.*\n)*${name} +three`));
      expect(await run("get", "quote", name, "-o", "jsonpath={.spec.author}")).to.equal("kubectl");
      expect(await run("explain", "quote.spec.text")).to.contain("What was said.");
      await writeFile(file, manifest("four"));
      const refused = await kubectl(builtKubectl(), home, [
        "apply",
        "--server-side",
        "--field-manager=other",
        "-f",
        file,
      ]);
      expect(refused.stderr).to.match(/conflict.* with "kubectl/s);
      expect(await run("delete", "quote", name)).to.contain("deleted");
      expect((await kubectl(builtKubectl(), home, ["get", "quote", name])).stderr).to.contain("NotFound");
    }
    expect(stage.server.failures).to.deep.equal([]);
  });

  for (const name of ["quotes", "shown"]) {
    it(`keeps client-go's informers of ${name} correct while the upstream is killed and restarted`, async () => {
      await using stage = await startForwarded();
      const { oracle, server } = stage;
      await using direct = new Client({ upstream: oracle.upstream });
      const quotes = direct.resource(Quote);
      for (const each of ["stays", "changes", "goes"]) await quotes.create(quote(each, "1"));
      using home = await server.home(name);
      await using seen = new Client({ upstream: server.as(name) });
      await using informer = GoClient.start("informer", home);
      await informer.event("synced");
      const holds = async (): Promise<void> => informer.holds(await versions(seen.resource(Quote)), 30_000);
      await holds();
      await quotes.create(quote("new", "1"));
      await holds();

      await oracle.kill();
      await oracle.resume();
      await quotes.delete("goes");
      await changed(quotes, "changes", "2");
      await quotes.create(quote("newer", "1"));
      await holds();
      expect([...informer.objects.keys()].sort()).to.deep.equal(["changes", "new", "newer", "stays"]);
      expect(informer.all("deleted").map(({ key }) => key)).to.deep.equal(["goes"]);
      expect(server.failures, "reported failures of the upstream").to.not.deep.equal([]);
      await informer.end();
    });
  }

  it("with a frozen upstream: requests end, readiness fails, and everything recovers by itself", async () => {
    await using stage = await startForwarded();
    const { oracle, server } = stage;
    await using direct = new Client({ upstream: oracle.upstream });
    const quotes = direct.resource(Quote);
    for (const each of ["stays", "changes", "goes"]) await quotes.create(quote(each, "1"));
    const following = await Promise.all(
      (["quotes", "shown"] as const).map(async (name) => {
        const home = await server.home(name);
        const informer = GoClient.start("informer", home);
        await informer.event("synced");
        return { name, home, informer };
      }),
    );
    try {
      oracle.freeze();
      for (const { name } of following) {
        while ((await server.readiness(name)) !== 503);
        // Our server gives up after 30 s, like a client by default. A longer client deadline shows the server's answer.
        await using asking = new Client({ upstream: { ...server.as(name), deadlines: { head: 60_000 } } });
        const began = performance.now();
        const codes = [
          asking.resource(Quote).list({ retries: false }),
          asking.resource(Quote).get("stays", { retries: false }),
        ].map((ask: Promise<unknown>) =>
          ask.then(
            () => 200,
            ({ code }: { code?: number }) => code,
          ),
        );
        expect(await Promise.all(codes)).to.deep.equal([503, 503]);
        expect(performance.now() - began, name).to.be.below(31_000);
      }
      oracle.thaw();
      const thawed = performance.now();
      await quotes.delete("goes");
      await changed(quotes, "changes", "2");
      await quotes.create(quote("new", "1"));
      for (const { name, informer } of following) {
        await informer.event("added", ({ key }) => key === "new", 15_000);
        while ((await server.readiness(name)) !== 200);
        await using seen = new Client({ upstream: server.as(name) });
        await informer.holds(await versions(seen.resource(Quote)), 15_000);
        expect(informer.all("deleted").map(({ key }) => key)).to.deep.equal(["goes"]);
      }
      expect(performance.now() - thawed).to.be.below(15_000);
      expectFault(/virtual workspace is not ready/);
      for (const { informer } of following) await informer.end();
    } finally {
      oracle.thaw();
      for (const { home, informer } of following) {
        await informer[Symbol.asyncDispose]();
        home[Symbol.dispose]();
      }
    }
  });

  it("after a compaction: an older page and watch get 410, and informers relist once, correctly", async () => {
    await using stage = await startForwarded();
    const { oracle, server } = stage;
    await using direct = new Client({ upstream: oracle.upstream });
    const quotes = direct.resource(Quote);
    for (const each of ["stays", "changes", "goes"]) await quotes.create(quote(each, "1"));
    using home = await server.home("quotes");
    await using seen = new Client({ upstream: server.as("quotes") });
    await using informer = GoClient.start("informer", home);
    await informer.event("synced");
    const { metadata } = await seen.resource(Quote).list({ limit: 1 });
    for (const text of ["2", "3"]) await changed(quotes, "changes", text);
    await informer.holds(await versions(seen.resource(Quote)), 15_000);
    const listed = (): number => informer.verbs().filter((verb) => verb !== "watch").length;
    const before = listed();
    await server[Symbol.asyncDispose]();
    await quotes.delete("goes");
    await changed(quotes, "changes", "4");
    await oracle.compact();
    // After a restart the upstream has to read the past from its etcd.
    await oracle.kill();
    await oracle.resume();
    await using again = await ForwardingServer.start(oracle.upstream, server);
    await using seenAgain = new Client({ upstream: again.as("quotes") });
    const paged = seenAgain.resource(Quote).list({ limit: 1, continue: metadata.continue ?? "" });
    expect(await paged.catch(({ code, reason }) => [code, reason])).to.deep.equal([410, "Expired"]);
    await quotes.create(quote("new", "1"));
    await informer.holds(await versions(seenAgain.resource(Quote)), 30_000);
    expect(informer.all("deleted").map(({ key }) => key)).to.deep.equal(["goes"]);
    expect(listed() - before, "lists after the break").to.equal(1);
    await informer.end();
  });

  it("lets objects enter and leave as their labels change on the upstream", async () => {
    await using stage = await startForwarded();
    await using direct = new Client({ upstream: stage.oracle.upstream });
    const quotes = direct.resource(Quote);
    await quotes.create(quote("one", "1"));
    await quotes.create(quote("two", "1", { hidden: "true" }));
    using home = await stage.server.home("shown");
    await using informer = GoClient.start("informer", home);
    await informer.event("synced");
    expect([...informer.objects.keys()]).to.deep.equal(["one"]);
    await quotes.update({
      ...(await quotes.get("one")),
      metadata: { ...(await quotes.get("one")).metadata, labels: { hidden: "true" } },
    });
    await informer.event("deleted", ({ key }) => key === "one");
    await quotes.update({
      ...(await quotes.get("two")),
      metadata: { ...(await quotes.get("two")).metadata, labels: {} },
    });
    await informer.event("added", ({ key }) => key === "two");
    await informer.end();
  });

  it("over another view: objects pass in both directions, and a chain that is too long is reported as such", async () => {
    await using stage = await startForwarded();
    await using second = await ForwardingServer.start(stage.server.as("shown"));
    using home = await second.home("shown");
    await using informer = GoClient.start("informer", home);
    await informer.event("synced");
    await using through = new Client({ upstream: second.as("shown") });
    const quotes = through.resource(Quote);
    const made = await quotes.create(quote("far", "written two servers away"));
    await informer.holds(new Map([["far", made.metadata.resourceVersion ?? ""]]));
    await quotes.delete("far");
    await informer.event("deleted", ({ key }) => key === "far");
    await informer.end();

    // A chain of four servers is allowed, a longer one is not.
    await using third = await ForwardingServer.start(second.as("quotes"));
    await using fourth = await ForwardingServer.start(third.as("quotes"));
    using allowed = await fourth.home("quotes");
    expect((await kubectl(builtKubectl(), allowed, ["get", "quotes"])).code).to.equal(0);
    await using fifth = await ForwardingServer.start(fourth.as("quotes"));
    using tooFar = await fifth.home("quotes");
    const { code, stderr } = await kubectl(builtKubectl(), tooFar, ["get", "quotes"]);
    expect([code, stderr.includes("quotes -> quotes -> quotes -> quotes -> shown")], stderr).to.deep.equal([1, true]);
  });
});
