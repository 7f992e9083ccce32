// examples/over-spaces/provider.ts in a process that is killed: the manager before, during and after that.
import { namespaceOf, restProvider, Space } from "@virtual-workspaces/spaces";
import { checkSpaceProvider } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { type Tree, tree } from "../../../_setup/tree.ts";
import { conditionOf, isReady, Management } from "../support/management.ts";
import { ProviderProgram } from "./support/provider-program.ts";

const HERE = namespaceOf("here");
const NOTE = { group: "example.dev", version: "v1", kind: "Note", plural: "notes", scope: "Cluster" } as const;

/** Check that waits until a watch has no more events. */
const SLOW = "P6.2";

describe("examples/over-spaces/provider.ts", function () {
  this.timeout(60_000);
  let folder: Tree;
  let management: Management;
  let program: ProviderProgram;

  before(async () => {
    folder = tree({});
    management = await Management.start();
    program = await ProviderProgram.start(folder.path);
  });
  after(async () => {
    await program?.[Symbol.asyncDispose]();
    await management?.[Symbol.asyncDispose]();
    folder?.[Symbol.dispose]();
  });

  it("implements the protocol", async () => {
    const { url, token, "ca.crt": ca } = program.secret;
    const { results, left } = await checkSpaceProvider({ url, token, ca, write: true, checks: (id) => id !== SLOW });
    expect(results.filter(({ outcome }) => outcome !== "passed")).to.deep.equal([]);
    expect(left).to.deep.equal([]);
  });

  it("creates, serves and deletes spaces, and loses or orphans none when it is killed", async () => {
    await using manager = management.manager({ types: { rest: restProvider() } });
    await manager.started;
    await management.provide("here", { type: "rest", secret: program.secret });
    await management.untilProvider("here", (one) => conditionOf(one, "Ready") === "True");
    for (const name of ["one", "two"]) await management.make(HERE, name);
    const one = await management.until(HERE, "one", isReady);
    const two = await management.until(HERE, "two", isReady);
    const [inOne, inTwo] = [await management.reached(one as never), await management.reached(two as never)];
    await inOne.resource(NOTE).create({ metadata: { name: "mine" }, spec: { text: "hello" } } as never);
    expect((await inTwo.resource(NOTE).list()).items).to.deep.equal([]);

    await program.kill();
    await management.until(HERE, "one", (space) => conditionOf(space, "Provided") === "Unknown ProviderUnreachable");
    const spaces = management.client.resource(Space).in(HERE);
    await spaces.delete("two");
    await management.make(HERE, "three");
    expect(isReady(await spaces.get("one"))).to.equal(true);

    program = await ProviderProgram.start(folder.path);
    await management.until(HERE, "two", (space) => space === undefined);
    await management.until(HERE, "three", isReady);
    const still = await management.until(HERE, "one", (space) => conditionOf(space, "Provided") === "True");
    expect(still?.metadata.uid).to.equal(one?.metadata.uid);
    expect(still?.status?.spaceID).to.equal(one?.status?.spaceID);
    expect(program.spaces).to.deep.equal(["one", "three"]);

    // Killed right after the creation has started: the new space still belongs to the Space.
    await management.make(HERE, "four");
    while (!program.spaces.includes("four")) await spaces.get("four");
    await program.kill();
    program = await ProviderProgram.start(folder.path);
    await management.until(HERE, "four", isReady);
    for (const name of ["one", "three", "four"]) await management.removeSpace(HERE, name);
    expect(program.spaces).to.deep.equal([]);
    await management.removeProvider("here");
    program.signal("SIGTERM");
    expect(await program.ended).to.deep.equal({ code: 0, signal: null });
    expect(program.stderr).to.equal("");
  });
});
