// Why: clients follow the published URLs. A missing entry hides a shard, an extra one leads nowhere, and removing another
// publisher's entry breaks its clients.
import { publishURLs } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { ManualClock } from "../../_support/manual-clock.ts";
import { APPLY, MERGE } from "../../_support/patches.ts";
import { until } from "../../_support/until.ts";
import { type Body, conditionOf, root, SHARDS, Stores, untilAt } from "../../workspace-server/shards/support.ts";
import { makeAdmin } from "../../workspace-server/support/logical-clusters.ts";
import { byShards, Kitchen, urlOn } from "./support/menus.ts";

const PATCH = MERGE.headers ?? {};

/** Returns the managers that have applied each URL. */
function managersOf({ metadata }: Body): Record<string, string[]> {
  const own = metadata.managedFields.filter(
    ({ operation, subresource }: Body) => operation === "Apply" && subresource === "status",
  );
  return Object.fromEntries(
    own.map(({ manager, fieldsV1 }: Body) => [
      manager,
      Object.keys(fieldsV1["f:status"]?.["f:endpoints"] ?? {}).map((key) => JSON.parse(key.slice(2)).url),
    ]),
  );
}

const versionOf = async (kitchen: Kitchen, name: string): Promise<string> =>
  (await kitchen.server.get(`${kitchen.menus}/${name}`, root)).body.metadata.resourceVersion;

describe("publishURLs", function () {
  this.timeout(30_000);

  it("publishes each shard's own URL, beside the entries of others", async () => {
    await using stores = new Stores();
    await using kitchen = await Kitchen.start(stores);
    await kitchen.cook("soup");
    const theirs = { apiVersion: "example.dev/v1", kind: "Menu", metadata: { name: "soup" } };
    const other = { ...theirs, status: { note: "hot", endpoints: [{ url: "https://other.test" }] } };
    await kitchen.send(`PATCH ${kitchen.menus}/soup/status?fieldManager=other`, other, APPLY.headers);
    await using near = publishURLs({ ...kitchen.publication("root"), urls: byShards });
    await using _far = publishURLs({ ...kitchen.publication("shard-1"), urls: byShards });
    await near.started;
    const all = ["https://other.test", urlOn.root("soup"), urlOn.far("soup")];
    const soup = await kitchen.having("soup", all);
    expect(managersOf(soup)).to.deep.equal({
      other: ["https://other.test"],
      root: [urlOn.root("soup")],
      "shard-1": [urlOn.far("soup")],
    });
    expect(soup.status.note).to.equal("hot");
    // Later objects get URLs, too.
    await kitchen.cook("salad");
    await kitchen.having("salad", [urlOn.root("salad"), urlOn.far("salad")]);
    expect(kitchen.failures).to.deep.equal([]);
  });

  it("writes nothing when the list is right, also after a restart", async () => {
    await using stores = new Stores();
    await using kitchen = await Kitchen.start(stores);
    await kitchen.cook("soup");
    const both = { ...kitchen.publication("*"), manager: "menus", urls: byShards };
    {
      await using _first = publishURLs(both);
      await kitchen.having("soup", [urlOn.root("soup"), urlOn.far("soup")]);
    }
    const version = await versionOf(kitchen, "soup");
    await using again = publishURLs({
      ...both,
      urls: (menu, shards) => [...byShards(menu, shards), ...byShards(menu, shards)].reverse(),
    });
    await again.started;
    await kitchen.send(`PATCH ${SHARDS}/root`, { metadata: { labels: { seen: "yes" } } }, PATCH);
    again.recheck();
    // This write waits in the same queue.
    await kitchen.cook("salad");
    await kitchen.having("salad", [urlOn.root("salad"), urlOn.far("salad")]);
    expect(await versionOf(kitchen, "soup")).to.equal(version);
  });

  it("removes its entries for an empty list, and keeps them for undefined", async () => {
    await using stores = new Stores();
    await using kitchen = await Kitchen.start(stores);
    await kitchen.cook("soup");
    await kitchen.cook("salad");
    await using _near = publishURLs({ ...kitchen.publication("root"), urls: byShards });
    await using _far = publishURLs({
      ...kitchen.publication("shard-1"),
      urls: (menu, shards) => {
        if (menu.spec?.day === "leaving") return undefined;
        return menu.spec?.day === "monday" ? byShards(menu, shards) : [];
      },
    });
    for (const name of ["soup", "salad"]) await kitchen.having(name, [urlOn.root(name), urlOn.far(name)]);
    await kitchen.send(`PATCH ${kitchen.menus}/soup`, { spec: { day: "leaving" } }, PATCH);
    await kitchen.send(`PATCH ${kitchen.menus}/salad`, { spec: { day: "tuesday" } }, PATCH);
    const salad = await kitchen.having("salad", [urlOn.root("salad")]);
    expect(managersOf(salad)).to.deep.equal({ root: [urlOn.root("salad")] });
    await kitchen.having("soup", [urlOn.root("soup"), urlOn.far("soup")]);
  });

  it("follows changes of a Shard, and publishes further fields of an endpoint", async () => {
    await using stores = new Stores();
    await using kitchen = await Kitchen.start(stores);
    await kitchen.cook("soup");
    let shards: object = { matchAll: true };
    await using published = publishURLs({
      ...kitchen.publication("shard-1"),
      urls: (menu, all) => byShards(menu, all).map((url) => ({ url, shards })),
    });
    const soup = await kitchen.having("soup", [urlOn.far("soup")]);
    expect(soup.status.endpoints).to.deep.equal([{ url: urlOn.far("soup"), shards }]);
    await kitchen.send(`PATCH ${SHARDS}/shard-1`, { spec: { virtualWorkspaceURL: "https://else.test/" } }, PATCH);
    await kitchen.having("soup", ["https://else.test/services/menus/soup"]);
    shards = { selector: { matchLabels: { region: "eu" } } };
    published.recheck();
    const { body } = await untilAt(
      kitchen.server,
      `${kitchen.menus}/soup`,
      ({ body: { status } }) => status.endpoints[0].shards.matchAll === undefined,
    );
    expect(body.status.endpoints).to.deep.equal([{ url: "https://else.test/services/menus/soup", shards }]);
  });

  it("keeps entries when the publisher stops, and removes only its own on withdraw", async () => {
    await using stores = new Stores();
    await using kitchen = await Kitchen.start(stores);
    for (const name of ["soup", "salad"]) await kitchen.cook(name);
    const near = publishURLs({ ...kitchen.publication("root"), urls: byShards });
    const far = publishURLs({ ...kitchen.publication("shard-1"), urls: byShards });
    for (const name of ["soup", "salad"]) await kitchen.having(name, [urlOn.root(name), urlOn.far(name)]);
    await near[Symbol.asyncDispose]();
    await kitchen.having("soup", [urlOn.root("soup"), urlOn.far("soup")]);
    await far.withdraw();
    for (const name of ["soup", "salad"])
      expect((await kitchen.server.get(`${kitchen.menus}/${name}`, root)).body.status.endpoints).to.deep.equal([
        { url: urlOn.root(name) },
      ]);
    const gone = publishURLs({ ...kitchen.publication("root"), urls: byShards });
    await gone.started;
    await kitchen.send(`DELETE ${kitchen.menus}/salad`);
    await gone.withdraw();
    expect((await kitchen.having("soup", [])).status?.endpoints ?? []).to.deep.equal([]);
  });

  it("reports exceptions of `urls` and invalid URLs, changes nothing then, and continues", async () => {
    await using stores = new Stores();
    await using kitchen = await Kitchen.start(stores);
    await kitchen.cook("soup");
    let broken: (() => readonly string[]) | undefined;
    await using published = publishURLs({
      ...kitchen.publication("root"),
      urls: (menu, shards) => broken?.() ?? byShards(menu, shards),
    });
    await kitchen.having("soup", [urlOn.root("soup")]);
    for (const [fault, message] of [
      [() => ["https://user:secret@x.test"], /without user, query and fragment$/],
      [() => ["/services/menus/soup"], /cannot publish "[^"]*": use an http or https URL/],
      [
        () => {
          throw new Error("no such menu");
        },
        /no such menu/,
      ],
    ] as const) {
      broken = fault;
      const before = kitchen.failures.length;
      published.recheck();
      await until(() => kitchen.failures.length !== before);
      expect(String(kitchen.failures.at(-1)?.error)).to.match(message);
    }
    broken = undefined;
    await kitchen.having("soup", [urlOn.root("soup")]);
    await kitchen.cook("salad");
    await kitchen.having("salad", [urlOn.root("salad")]);
  });

  it("writes a whole list with its condition, if the kind has one", async () => {
    await using stores = new Stores();
    await using kitchen = await Kitchen.start(stores);
    await kitchen.cook("soup");
    await kitchen.send(`PATCH ${kitchen.menus}/soup/status`, { status: { note: "hot" } }, PATCH);
    let broken = false;
    const options = {
      ...kitchen.publication("*"),
      manager: "menus",
      field: "virtualWorkspaces",
      list: "whole",
      condition: "VirtualWorkspaceURLsReady",
    } as const;
    const published = publishURLs({
      ...options,
      urls: (menu, shards) => {
        if (broken) throw new Error("no such view");
        return byShards(menu, shards);
      },
    });
    const soup = await kitchen.having("soup", [urlOn.far("soup"), urlOn.root("soup")], "virtualWorkspaces");
    expect(soup.status.virtualWorkspaces).to.deep.equal([{ url: urlOn.far("soup") }, { url: urlOn.root("soup") }]);
    expect(soup.status.conditions[0]).to.include({ type: "VirtualWorkspaceURLsReady", status: "True" });
    expect(soup.status.note).to.equal("hot");
    broken = true;
    published.recheck();
    const bad = await untilAt(
      kitchen.server,
      `${kitchen.menus}/soup`,
      (answer) => conditionOf(answer, "VirtualWorkspaceURLsReady")?.status === "False",
    );
    expect(conditionOf(bad, "VirtualWorkspaceURLsReady")).to.include({
      severity: "Error",
      reason: "ErrorGeneratingURLs",
      message: "no such view",
    });
    expect(bad.body.status.virtualWorkspaces).to.deep.equal(soup.status.virtualWorkspaces);
    broken = false;
    published.recheck();
    await untilAt(
      kitchen.server,
      `${kitchen.menus}/soup`,
      (answer) => conditionOf(answer, "VirtualWorkspaceURLsReady")?.status === "True",
    );
    await published.withdraw();
    const { body } = await kitchen.server.get(`${kitchen.menus}/soup`, root);
    expect(body.status).to.deep.equal({ note: "hot", conditions: [] });
  });

  it("leaves a whole list to its last writer on withdraw", async () => {
    await using stores = new Stores();
    await using kitchen = await Kitchen.start(stores);
    await kitchen.cook("soup");
    const whole = { field: "virtualWorkspaces", list: "whole", condition: "VirtualWorkspaceURLsReady" } as const;
    const options = { ...kitchen.publication("*"), ...whole, manager: "menus" };
    let isWanted = true;
    const published = publishURLs({ ...options, urls: (...given) => (isWanted ? byShards(...given) : undefined) });
    await kitchen.having("soup", [urlOn.far("soup"), urlOn.root("soup")], "virtualWorkspaces");
    isWanted = false;
    const theirs = { virtualWorkspaces: [{ url: "https://other.test" }] };
    await kitchen.send(`PATCH ${kitchen.menus}/soup/status?fieldManager=other`, { status: theirs }, PATCH);
    const before = await kitchen.having("soup", ["https://other.test"], "virtualWorkspaces");
    await published.withdraw();
    const { body } = await kitchen.server.get(`${kitchen.menus}/soup`, root);
    expect(body.status).to.deep.equal(before.status);
  });

  it("waits longer each time another client removes entries, and reports it", async () => {
    await using stores = new Stores();
    await using kitchen = await Kitchen.start(stores);
    await kitchen.cook("soup");
    const clock = new ManualClock();
    let asked = 0;
    await using _published = publishURLs({
      ...kitchen.publication("root"),
      clock,
      urls: (menu, shards) => {
        asked++;
        return byShards(menu, shards);
      },
    });
    for (const wait of [1_000, 2_000, 4_000, 8_000]) {
      await kitchen.having("soup", [urlOn.root("soup")]);
      const before = asked;
      await kitchen.send(`PATCH ${kitchen.menus}/soup/status`, { status: { endpoints: null } }, PATCH);
      await until(() => asked !== before);
      clock.advance(wait - 100);
      await new Promise((resolve) => setImmediate(resolve));
      expect((await kitchen.server.get(`${kitchen.menus}/soup`, root)).body.status?.endpoints ?? []).to.deep.equal([]);
      clock.advance(200);
    }
    await kitchen.having("soup", [urlOn.root("soup")]);
    expect(kitchen.failures.map(({ error }) => String(error))).to.have.length(1);
    expect(String(kitchen.failures[0]?.error)).to.match(/another client repeatedly removes the URLs of .*soup/);
  });

  it("reports the rejection without status permission, and publishes once it is granted", async () => {
    await using stores = new Stores();
    await using kitchen = await Kitchen.start(stores);
    await kitchen.cook("soup");
    await using alice = kitchen.clientOf("alice");
    const { shards: _, ...common } = kitchen.publication("root");
    await using _published = publishURLs({
      ...common,
      client: alice,
      manager: "alice",
      urls: () => ["https://a.test/x"],
    });
    await until(() => kitchen.failures.length !== 0);
    expect(kitchen.failures[0]?.error).to.have.property("code", 403);
    await makeAdmin(kitchen.server, kitchen.cluster, "alice");
    await kitchen.having("soup", ["https://a.test/x"]);
  });

  it("rejects contradicting options", async () => {
    await using stores = new Stores();
    await using kitchen = await Kitchen.start(stores);
    const all = { ...kitchen.publication("*"), urls: byShards };
    expect(() => publishURLs(all)).to.throw("publishURLs: no field manager: set `manager`");
    expect(() => publishURLs({ ...all, manager: "x", condition: "Ready" })).to.throw(
      "invalid `condition` for a keyed list",
    );
  });
});
