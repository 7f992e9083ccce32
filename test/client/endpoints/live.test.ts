import { expect } from "chai";
import { startRelay } from "../../_support/relay.ts";
import { until } from "../../_support/until.ts";
import { follow } from "../support/followed.ts";
import { type Shard, type Slices, startShard, startSlices } from "../support/shard.ts";

describe("endpoints of a slice", () => {
  let stack: AsyncDisposableStack;
  let slices: Slices;
  let [one, two] = [] as unknown as [Shard, Shard];
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    slices = stack.use(await startSlices());
    [one, two] = [stack.use(await startShard()), stack.use(await startShard())];
    one.widgets.in("a", "default").set("x", { size: 1 });
    two.widgets.in("b", "default").set("x", { size: 2 });
  });
  afterEach(() => stack.disposeAsync());
  const shards = (): Record<string, Shard> => ({ [one.url]: one, [two.url]: two });

  it("come and go while a controller runs (C8)", async () => {
    slices.list(one.url);
    await using it = follow(slices, shards());
    await it.running.started;
    await until(() => it.told.length === 1, { what: "one" });
    slices.list(one.url, two.url);
    await until(() => it.told.length === 2, { what: "both" });
    one.widgets.in("a", "default").set("x", { size: 10 });
    await until(() => it.told.length === 3, { what: "a change" });
    expect(it.informers.sources.widgets.endpointOf({ cluster: "a", namespace: "default", name: "x" })?.url).to.equal(
      one.url,
    );
    slices.list(two.url);
    await until(() => it.told.length === 4, { what: "one is gone" });
    one.widgets.in("a", "default").set("x", { size: 11 });
    two.widgets.in("b", "default").delete("x");
    await until(() => it.told.length === 5, { what: "a delete" });
    expect(it.told).to.eql([
      "a|default/x 1",
      "b|default/x 2",
      "a|default/x 10",
      "a|default/x gone",
      "b|default/x deleted",
    ]);
    slices.list(two.url, one.url);
    await until(() => it.told.length === 6, { what: "one is back" });
    expect(it.told[5]).to.equal("a|default/x 11");
    expect(it.failures).to.eql([]);
  });

  it("start from an empty list, from an object that does not exist yet, and stop with the object", async () => {
    await using it = follow(slices, shards());
    await it.running.started;
    expect(it.statuses()).to.eql([]);
    slices.list(one.url);
    await until(() => it.told.length === 1, { what: "one" });
    slices.list();
    await until(() => it.told.length === 2, { what: "none" });
    slices.list(one.url);
    await until(() => it.told.length === 3, { what: "one again" });
    slices.slices.in("root").delete("shards");
    await until(() => it.told.length === 4, { what: "no object" });
    expect(it.told).to.eql(["a|default/x 1", "a|default/x gone", "a|default/x 1", "a|default/x gone"]);
    expect(it.statuses()).to.eql([]);
  });

  it("have no order, and ignore a trailing slash", async () => {
    slices.list(one.url, two.url);
    await using it = follow(slices, shards());
    await it.running.started;
    const since = it.informers.endpoints.statuses;
    const requests = [one, two].map(({ client }) => client.upstream.stats.requests);
    slices.list(`${two.url}/`, two.url.replace("http:", "HTTP:"), one.url);
    slices.slices.in("root").set("shards", { export: { name: "other" } });
    one.widgets.in("a", "default").set("last", {});
    await until(() => it.world.has("a|default/last"), { what: "the last" });
    slices.list(two.url);
    await until(() => it.statuses().length === 1, { what: "a list that is another" });
    expect(it.informers.endpoints.statuses[0]).to.eql(since.find(({ url }) => url === two.url));
    expect(it.told.filter((text) => text.startsWith("b|"))).to.eql(["b|default/x 2"]);
    expect([one, two].map(({ client }) => client.upstream.stats.requests)).to.eql(requests);
  });

  it("are reported once if their URL is invalid, without effect on others", async () => {
    slices.list("ftp://host/x", one.url, "no url", "http://user:secret@host/", "http://host/?x=1");
    await using it = follow(slices, shards());
    await it.running.started;
    await until(() => it.told.length === 1, { what: "one" });
    slices.list("no url", one.url, two.url);
    await until(() => it.told.length === 2, { what: "both" });
    expect(it.failures.map(({ error }) => String(error))).to.eql([
      'ApiError: invalid endpoint ftp://host/x: invalid scheme "ftp:": use https or http',
      "ApiError: invalid endpoint no url: not a URL: use one like https://host:6443/services/apiexport/root/todo",
      "ApiError: invalid endpoint http://…@host/: remove user and password from the URL",
      "ApiError: invalid endpoint http://host/?x=1: remove query and fragment from the URL",
    ]);
    expect(it.informers.endpoints.invalid).to.have.length(1);
  });

  it("use the address that `rewrite` returns, unless it throws", async () => {
    slices.list("https://shard-1.internal:6443/services/shard", "https://elsewhere.example/services/shard");
    await using it = follow(slices, shards(), {
      rewrite: (url) => {
        if (!url.includes(".internal:")) throw new Error("not one of ours");
        return url.replace("https://shard-1.internal:6443", new URL(one.url).origin);
      },
    });
    await it.running.started;
    await until(() => it.told.length === 1, { what: "one" });
    const [status, ...others] = it.informers.endpoints.statuses;
    expect(status).to.include({ url: "https://shard-1.internal:6443/services/shard", address: one.url, ready: "True" });
    expect(others).to.eql([]);
    expect(it.failures.map(({ error }) => String(error))).to.eql([
      "ApiError: invalid endpoint https://elsewhere.example/services/shard: not one of ours",
    ]);
  });

  it("merge equal objects of two endpoints, also when one of them is removed", async () => {
    const relay = stack.use(await startRelay(Number(new URL(one.url).port)));
    const alias = one.url.replace(/:\d+/, `:${relay.port}`);
    slices.list(one.url, alias);
    await using it = follow(slices, { ...shards(), [alias]: one });
    await it.running.started;
    await until(() => it.statuses().filter((text) => text.endsWith("True Ready")).length === 2, { what: "both" });
    const widgets = one.widgets.in("a", "default");
    widgets.set("y", { size: 1 });
    widgets.set("x", { size: 3 });
    await until(() => it.world.get("a|default/x") === 3 && it.world.has("a|default/y"), { what: "both changes" });
    slices.list(alias);
    await until(() => it.statuses().length === 1, { what: "one endpoint" });
    widgets.delete("y");
    widgets.set("x", { size: 4 });
    await until(() => it.world.get("a|default/x") === 4, { what: "a change at the other" });
    await until(() => !it.world.has("a|default/y"), { what: "a delete at the other" });
    expect(it.told.filter((text) => text.startsWith("a|default/y")).sort()).to.eql([
      "a|default/y 1",
      "a|default/y deleted",
    ]);
    expect(it.told.filter((text) => text.startsWith("a|default/x"))).to.eql(
      ["1", "3", "4"].map((n) => `a|default/x ${n}`),
    );
  });
});
