// Actions of users while a controller of sites runs, is killed and runs again, and their results: the same for every
// controller.
import { expect } from "chai";
import type { Program } from "../../go/support/program.ts";
import type { Sites, StartController } from "./sites.ts";

/** @param shards shards of the workspaces: one name, or two */
export async function play(
  sites: Sites,
  start: StartController,
  [first = "root", second = first]: string[],
): Promise<void> {
  const several = first === second ? 1 : 2;
  await sites.workspace("one", first);
  await sites.workspace("two", second);
  await using before = start(sites.account);
  // The controller runs before the first binding, and learns of each shard later.
  await sites.bind("one");
  await sites.urls(1);
  await sites.make("one", "home", "hello");
  await sites.published("one", "home", "hello");
  await sites.bind("two");
  await sites.urls(several);
  await sites.make("two", "home", "bonjour");
  await sites.published("two", "home", "bonjour");

  const title = (text: string) => ["patch", "site", "home", "--type=merge", "-p", `{"spec":{"title":"${text}"}}`];
  expect(await sites.user("one", ...title("moin"))).to.equal("site.sites.example.dev/home patched");
  await sites.published("one", "home", "moin");
  expect(await sites.user("one", "delete", "configmap", "home")).to.match(/deleted/);
  expect(await sites.user("one", "wait", "--for=create", "configmap/home")).to.match(/condition met/);
  await sites.published("one", "home", "moin");
  await sites.published("two", "home", "bonjour");

  // The controller is killed: objects created or deleted meanwhile wait for it.
  await kill(before);
  await sites.make("two", "late", "later");
  expect(await sites.user("one", "delete", "site", "home", "--wait=false")).to.match(/deleted/);
  expect(await sites.user("one", "get", "configmap", "home", "-o", "name")).to.equal("configmap/home");
  await using after = start(sites.account);
  await sites.published("two", "late", "later");
  await sites.gone("one", "home");

  // The last binding of a shard is deleted, and its URL with it. The next binding publishes the URL again.
  for (const name of ["home", "late"]) expect(await sites.user("two", "delete", "site", name)).to.match(/deleted/);
  expect(await sites.user("two", "delete", "apibinding", "sites")).to.match(/deleted/);
  await sites.urls(1);
  await sites.make("one", "again", "still here");
  await sites.published("one", "again", "still here");
  await sites.bind("two");
  await sites.urls(several);
  await sites.make("two", "back", "here again");
  await sites.published("two", "back", "here again");
  after.signal("SIGTERM");
  expect((await after.ended).code, after.stderr).to.equal(0);
}

/** Shows the rights of the provider's service account in the workspace and through the view: the purpose of views. */
export async function whyViews(sites: Sites): Promise<void> {
  const cluster = await sites.workspace("shop", "root");
  await sites.bind("shop");
  await sites.make("shop", "home", "hello");
  const [url = ""] = await sites.urls(1);
  const there = `${sites.server.url}/clusters/root:shop`;
  const patch = ["patch", "site", "home", "--type=merge", "-p", '{"spec":{"title":"from the provider"}}'];
  for (const args of [
    ["get", "sites"],
    ["get", "site", "home"],
    ["get", "sites", "--watch"],
    ["get", "configmaps"],
    patch,
  ])
    expect(await sites.provider(there, ...args), args.join(" ")).to.match(/\(Forbidden\)/);

  const names = ["get", "sites", "-A", "-o", "jsonpath={.items[*].metadata.name}"];
  expect(await sites.provider(`${url}/clusters/*`, ...names)).to.equal("home");
  await using watch = sites.started(`${url}/clusters/*`, "get", "sites", "-A", "--watch", "--no-headers");
  await watch.until("the list", () => watch.lines.some((line) => /home +hello/.test(line)));
  const inShop = `${url}/clusters/${cluster}`;
  expect(await sites.provider(inShop, ...patch)).to.equal("site.sites.example.dev/home patched");
  await watch.until("the change", () => watch.lines.some((line) => /home +from the provider/.test(line)));
  expect(await sites.provider(inShop, "create", "configmap", "made", "--from-literal=by=provider")).to.match(/created/);
  expect(await sites.user("shop", "get", "configmap", "made", "-o", "jsonpath={.data.by}")).to.equal("provider");
  expect(await sites.provider(inShop, "get", "secrets")).to.match(/doesn't have a resource type|NotFound|Forbidden/);
  await sites.workspace("other", "root");
  const other = await sites.admin("root", "get", "workspace", "other", "-o", "jsonpath={.spec.cluster}");
  expect(await sites.provider(`${url}/clusters/${other}`, "get", "sites")).to.match(/\(Forbidden\)/);
}

/** Restarts all shards: a running controller continues, and misses no change. */
export async function playRestart(sites: Sites, start: StartController): Promise<void> {
  for (const [name, shard] of [
    ["one", "root"],
    ["two", "shard-1"],
  ] as const) {
    await sites.workspace(name, shard);
    await sites.bind(name);
  }
  await sites.urls(2);
  await using controller = start(sites.account);
  for (const name of ["one", "two"]) {
    await sites.make(name, "before", "hello");
    await sites.published(name, "before", "hello");
  }
  await sites.make("two", "between", "unseen");
  await sites.restart();
  await sites.published("two", "between", "unseen");
  for (const name of ["one", "two"]) {
    expect(await sites.user(name, "delete", "site", "before")).to.match(/deleted/);
    await sites.make(name, "after", "hello again");
    await sites.published(name, "after", "hello again");
    await sites.gone(name, "before");
  }
  controller.signal("SIGTERM");
  expect((await controller.ended).code, controller.stderr).to.equal(0);
}

/** Kills a process without warning. */
async function kill(program: Program): Promise<void> {
  program.signal("SIGKILL");
  await program.ended;
}
