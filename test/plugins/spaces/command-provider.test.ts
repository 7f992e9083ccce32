// A provider for any command-line tool: its runs are bounded, and no argument can become a flag.
import { existsSync, readFileSync } from "node:fs";
import { type CommandProviderOptions, commandProvider } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { localNode } from "../../../tools/install.mjs";
import { until } from "../../_support/until.ts";
import { CALL, gone, Opened } from "./support/processes.ts";
import { StandIn } from "./support/stand-in.ts";

const failure = (error: unknown): string => String((error as Error).message);

/** Prints a given text. */
const printing = (text: string): Pick<CommandProviderOptions, "command" | "list"> => ({
  command: localNode,
  list: ["-e", `process.stdout.write(${JSON.stringify(text)})`],
});

async function opened(options: Partial<CommandProviderOptions>): Promise<Opened> {
  const kubeconfig = (): readonly string[] => ["-e", "process.exit(7)"];
  const type = commandProvider({ name: "tool", ...printing("one\n"), kubeconfig, ...options });
  return new Opened(
    await type.open({ name: "here", secret: {}, log: () => undefined, signal: new AbortController().signal }),
  );
}

/** Waits for the processes of a stand-in that hangs. */
async function hanging(stand: StandIn): Promise<readonly number[]> {
  const read = (): string => (existsSync(stand.path("hanging")) ? readFileSync(stand.path("hanging"), "utf8") : "");
  await until(() => read() !== "");
  return read().split(" ").map(Number);
}

describe("commandProvider", function () {
  this.timeout(60_000);

  it("kills a tool that takes too long or has no waiting caller, with its child processes", async () => {
    for (const how of ["late", "left"]) {
      await using stand = new StandIn("kind");
      stand.faults({ "get clusters": "hang" });
      const { command, env } = stand;
      const list = ["get", "clusters"];
      await using provider = await opened({ command, env, list, within: how === "late" ? 1_500 : 60_000 });
      const left = new AbortController();
      const listed = Promise.resolve(provider.provider.list({ ...CALL, signal: left.signal })).then(String, failure);
      const pids = await hanging(stand);
      if (how === "left") left.abort(new Error("nobody waits"));
      expect(await listed).to.equal(how === "left" ? "nobody waits" : "tool: get clusters did not finish within 1.5 s");
      expect(pids).to.have.length(2);
      for (const pid of pids) await gone(pid);
    }
  });

  it("lists clusters, and accepts no name that could be a flag and no invalid list", async () => {
    await using provider = await opened(printing("one\n\n-rf\n--all\n..\nTwo_2\none\n"));
    const shown = await provider.list();
    expect(shown.map(({ name, message }) => [name, message]).sort()).to.deep.equal([
      ["Two_2", "tool: it ended with exit code 7"],
      ["one", "tool: it ended with exit code 7"],
    ]);
    expect(await provider.get("one")).to.deep.equal(shown.find(({ name }) => name === "one"));
    expect(await provider.get("-rf")).to.equal(undefined);
    expect(await provider.provider.access("one", CALL).catch(failure)).to.equal("tool: it ended with exit code 7");
    for (const text of ["one two\n", "one;two\n", "../one\n", `${"x".repeat(300)}\n`, "one\0\n"]) {
      await using odd = await opened(printing(text));
      expect(await odd.list().then(String, failure)).to.match(/^tool: -e .* did not print a list of clusters/);
    }
    for (const text of ["", "{", "null", '{"name":"one"}', '[{"title":"one"}]', '[{"name":["one"]}]']) {
      const parse = (printed: string): string[] => JSON.parse(printed).map(({ name }: { name: string }) => name);
      await using odd = await opened({ ...printing(text), parse });
      expect(await odd.list().then(String, failure), text).to.match(/did not print a list of clusters/);
    }
  });

  it("creates and deletes nothing without arguments for it, under invalid names, or in a hierarchy", async () => {
    await using none = await opened({});
    expect([none.provider.create, none.provider.delete]).to.deep.equal([undefined, undefined]);
    const told: string[] = [];
    const tell = (name: string): readonly string[] => {
      told.push(name);
      return ["-e", "0"];
    };
    await using provider = await opened({ create: tell, delete: tell, longestName: 5 });
    for (const name of ["-f", "--all", "a b", "../a", "", "A", "a\0b"]) {
      expect(await provider.create(name).catch(failure), name).to.match(
        /^metadata.name: tool cannot create a cluster with this name, /,
      );
      await provider.delete(name);
    }
    expect(await provider.create("longer").catch(failure)).to.equal(
      "metadata.name: too long for tool: use at most 5 characters",
    );
    await provider.create("one");
    const below = { ...CALL, parent: "root:there" };
    expect(await provider.provider.list(below)).to.deep.equal([]);
    expect(await provider.provider.get("one", below)).to.equal(undefined);
    expect(await provider.provider.access("one", below).catch(failure)).to.match(/^the provider has no hierarchy: /);
    expect(await provider.provider.create?.("one", below).catch(failure)).to.match(/^the provider has no hierarchy: /);
    await provider.provider.delete?.("one", below);
    expect(told).to.deep.equal(["A"]);
  });

  it("rejects invalid options", () => {
    const options = { name: "tool", list: [], kubeconfig: () => [] };
    for (const [bad, message] of [
      [{ within: 0 }, "invalid within of the provider tool: use at least 1 ms"],
      [{ createWithin: Number.NaN }, "invalid createWithin of the provider tool: use at least 1 ms"],
      [{ command: "" }, "empty command of the provider tool: set the name or path of a program"],
    ] as const)
      expect(() => commandProvider({ ...options, ...bad })).to.throw(message);
  });
});
