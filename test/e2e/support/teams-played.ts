// Actions of users while a controller of teams runs, is killed and runs again, and their results: the same for every
// controller.
import { expect } from "chai";
import type { Program } from "../../go/support/program.ts";
import type { StartController } from "./provided.ts";
import type { Teams } from "./teams.ts";

/** @param shards shards of the workspaces: one name, or two */
export async function play(
  teams: Teams,
  start: StartController,
  [first = "root", second = first]: string[],
): Promise<void> {
  // No controller is running yet, so the workspace waits.
  await teams.make("early", first);
  await teams.phase("early", "Initializing");
  await using before = start(teams.account);
  const early = await teams.settled("early");
  await teams.make("late", second);
  const late = await teams.settled("late");
  await teams.write("early", "first");
  await teams.write("late", "second");
  await teams.leave("early");
  await teams.kept("early", early, "first");

  // The controller is killed: workspaces created meanwhile wait for it, and deleted ones keep their content.
  await kill(before);
  await teams.leave("late");
  await teams.phase("late", "Terminating");
  await teams.make("next", first);
  await teams.phase("next", "Initializing");
  expect(await teams.user("org:late", "get", "-n", "team", "configmap/handbook", "-o", "name")).to.match(/handbook$/);
  await using after = start(teams.account);
  await teams.kept("late", late, "second");
  await teams.settled("next");
  after.signal("SIGTERM");
  expect((await after.ended).code, after.stderr).to.equal(0);
}

/** Kills a process without warning. */
export async function kill(program: Program): Promise<void> {
  program.signal("SIGKILL");
  await program.ended;
}

/** Shows the rights of the provider's service account: none in the workspace, and those of the type through the view while it waits. */
export async function whyViews(teams: Teams, start: StartController): Promise<void> {
  await teams.make("shop", "root");
  const cluster = await teams.phase("shop", "Initializing");
  const [url = ""] = await teams.urls("initializing", 1);
  const there = `${teams.server.url}/clusters/${cluster}`;
  const inView = `${url}/clusters/${cluster}`;
  const raw = (base: string, path: string) => teams.provider(teams.server.url, "get", "--raw", pathOf(base, path));
  const logicalCluster = "/apis/core.kcp.io/v1alpha1/logicalclusters/cluster";
  const namespaces = "/api/v1/namespaces";
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "by-hand" } };
  const create = (base: string) =>
    teams.provider(teams.server.url, "create", "--raw", pathOf(base, namespaces), "-f", teams.file(namespace));

  for (const path of [namespaces, logicalCluster, "/api/v1/secrets"])
    expect(await raw(there, path), path).to.match(/Forbidden|forbidden/);
  expect(await create(there)).to.match(/Forbidden|forbidden/);
  const waits = JSON.parse(await raw(inView, logicalCluster)).status.initializers;
  expect(waits).to.deep.equal([url.slice(url.lastIndexOf("/") + 1)]);
  expect(JSON.parse(await create(inView)).metadata.name).to.equal("by-hand");
  // Other resources are forbidden through the view, too, and other users have no access.
  expect(await raw(inView, "/api/v1/secrets")).to.match(/Forbidden|forbidden/);
  const asked = await teams.asked("bob", teams.server.url, "get", "--raw", pathOf(inView, logicalCluster));
  expect(asked).to.match(/Forbidden|forbidden/);

  await using controller = start(teams.account);
  await teams.settled("shop");
  expect(await raw(inView, logicalCluster)).to.match(/NotFound|could not find/);
  expect(await create(inView)).to.match(/Forbidden|forbidden/);
  expect(await raw(there, namespaces)).to.match(/Forbidden|forbidden/);
  controller.signal("SIGTERM");
  expect((await controller.ended).code, controller.stderr).to.equal(0);
}

function pathOf(base: string, path: string): string {
  return new URL(base).pathname + path;
}
