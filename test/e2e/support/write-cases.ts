// Commands that create and apply objects, and their output, the same for every kubectl.
import { expect } from "chai";
import { task, Writer } from "./writer.ts";

/** Defines the cases of one kubectl, within a `describe`. */
export function createAndApplyCases(file: () => string): void {
  it("creates from a file, from stdin and with a generated name, and reports an existing object", async () => {
    await using kubectl = await Writer.start(file());
    const path = kubectl.path(task("a"));
    expect(await kubectl.told(["create", "-f", path])).to.equal("task.example.dev/a created");
    expect(await kubectl.told("create -f -", { stdin: task("b") })).to.equal("task.example.dev/b created");
    expect(await kubectl.refused(["create", "-f", path])).to.equal(
      `Error from server (AlreadyExists): error when creating "${path}": tasks.example.dev "a" already exists`,
    );
    const generated = task("x").replace("name: x", "generateName: gen-");
    expect(await kubectl.told("create -f -", { stdin: generated })).to.match(/^task\.example\.dev\/gen-\w{5} created$/);
    const two = `${task("c")}---\n${task("d")}`;
    expect(await kubectl.told("create -f - -o name", { stdin: two })).to.equal(
      "task.example.dev/c\ntask.example.dev/d",
    );
    expect(kubectl.stage.tasks.list()).to.have.length(5);
  });

  it("prints every invalid field of an object by its name", async () => {
    await using kubectl = await Writer.start(file());
    const wrong = await kubectl.refused("create -f -", { stdin: task("bad", "{ title: 5, steps: -1 }") });
    expect(wrong.split("\n").slice(0, 3)).to.deep.equal([
      'The Task "bad" is invalid: ',
      "* spec.steps: Invalid value: -1: spec.steps in body should be greater than or equal to 0",
      '* spec.title: Invalid value: "integer": spec.title in body must be of type string: "integer"',
    ]);
    expect(await kubectl.refused("create -f -", { stdin: task("bad", "{ steps: 1 }") })).to.equal(
      'The Task "bad" is invalid: spec.title: Required value',
    );
    expect(await kubectl.refused("create -f -", { stdin: task("Not_Valid") })).to.match(
      /^The Task "Not_Valid" is invalid: metadata\.name: Invalid value: "Not_Valid": a lowercase RFC 1123 subdomain /,
    );
    const newer = task("bad").replace("/v1", "/v9");
    expect(await kubectl.refused("create -f -", { stdin: newer })).to.match(
      /no matches for kind "Task" in version "example\.dev\/v9"/,
    );
    expect(kubectl.stage.tasks.list()).to.deep.equal([]);
  });

  it("--validate: strict rejects unknown fields, warn warns, ignore drops them", async () => {
    await using kubectl = await Writer.start(file());
    const path = kubectl.path(task("odd", "{ title: x, titel: y }"));
    const unknown =
      'Task in version "v1" cannot be handled as a Task: strict decoding error: unknown field "spec.titel"';
    for (const strict of [[], ["--validate=strict"], ["--validate=true"]])
      expect(await kubectl.refused(["apply", "-f", path, ...strict])).to.equal(
        `Error from server (BadRequest): error when creating "${path}": ${unknown}`,
      );
    expect(await kubectl.told(["create", "-f", path, "--validate=warn"])).to.equal(
      'task.example.dev/odd created\n! Warning: unknown field "spec.titel"',
    );
    expect(await kubectl.told("delete task odd")).to.equal('task.example.dev "odd" deleted');
    expect(await kubectl.told(["create", "-f", path, "--validate=ignore"])).to.equal("task.example.dev/odd created");
    expect(kubectl.stage.tasks.get("odd")?.spec).to.deep.equal({ title: "x" });
  });

  it("--dry-run=server prints the result without a change", async () => {
    await using kubectl = await Writer.start(file());
    const stdin = task("dry");
    expect(await kubectl.told("create -f - --dry-run=server", { stdin })).to.equal(
      "task.example.dev/dry created (server dry run)",
    );
    expect(await kubectl.told("apply -f - --dry-run=server", { stdin })).to.equal(
      "task.example.dev/dry created (server dry run)",
    );
    expect(await kubectl.told("apply --server-side -f - --dry-run=server", { stdin })).to.equal(
      "task.example.dev/dry serverside-applied (server dry run)",
    );
    expect(await kubectl.refused("create -f - --dry-run=server", { stdin: task("dry", "{}") })).to.equal(
      'The Task "dry" is invalid: spec.title: Required value',
    );
    expect(kubectl.stage.tasks.list()).to.deep.equal([]);
    await kubectl.told("create -f -", { stdin });
    const before = kubectl.stage.tasks.get("dry");
    expect(await kubectl.told("delete task dry --dry-run=server")).to.equal(
      'task.example.dev "dry" deleted (server dry run)',
    );
    expect(await kubectl.told("label task dry a=b --dry-run=server")).to.equal(
      "task.example.dev/dry labeled (server dry run)",
    );
    expect(kubectl.stage.tasks.get("dry")).to.deep.equal(before);
  });

  it("applies: creates, keeps and configures objects, removes fields that left the manifest, and keeps fields of others", async () => {
    await using kubectl = await Writer.start(file());
    const apply = (spec: string): Promise<string> => kubectl.told("apply -f -", { stdin: task("a", spec) });
    expect(await apply("{ title: one, steps: 2 }")).to.equal("task.example.dev/a created");
    expect(await apply("{ title: one, steps: 2 }")).to.equal("task.example.dev/a unchanged");
    await kubectl.told(["patch", "task", "a", "--type=merge", "-p", '{"spec":{"count":7}}']);
    expect(await apply("{ title: two }")).to.equal("task.example.dev/a configured");
    expect(kubectl.stage.tasks.get("a")?.spec).to.deep.equal({ title: "two", count: 7 });
    kubectl.stage.tasks.set("by-hand", { title: "by hand" });
    expect(await kubectl.told("apply -f -", { stdin: task("by-hand", "{ title: applied }") })).to.match(
      /^task\.example\.dev\/by-hand configured\n! Warning: resource tasks\/by-hand is missing the kubectl\.kubernetes\.io\/last-applied-configuration annotation/,
    );
  });

  it("apply accepts the output of get, a list of kubectl's own", async () => {
    await using kubectl = await Writer.start(file());
    await kubectl.told("create -f -", { stdin: task("listed-a", "{ title: one }") });
    await kubectl.told("create -f -", { stdin: task("listed-b", "{ title: two }") });
    const list = await kubectl.told("get tasks listed-a listed-b -o yaml");
    expect(list).to.contain("kind: List");
    const applied = await kubectl.told("apply -f -", { stdin: list });
    expect(applied.split("\n").filter((line) => line.endsWith(" configured"))).to.have.length(2);
  });
  it("applies on the server side: shows a conflict, and forces it", async () => {
    await using kubectl = await Writer.start(file());
    const apply = ["apply", "--server-side", "-f"];
    const one = kubectl.path(task("a", "{ title: one, steps: 1 }"));
    const two = kubectl.path(task("a", "{ title: two, steps: 1 }"));
    for (let times = 0; times < 2; times++)
      expect(await kubectl.told([...apply, one])).to.equal("task.example.dev/a serverside-applied");
    expect(kubectl.stage.tasks.get("a")?.metadata.generation).to.equal(1);
    const conflict = await kubectl.refused([...apply, two, "--field-manager=other"]);
    expect(conflict).to.match(
      /^error: Apply failed with 1 conflict: conflict with "kubectl": \.spec\.title\nPlease review/,
    );
    const force = [...apply, two, "--field-manager=other", "--force-conflicts"];
    expect(await kubectl.told(force)).to.equal("task.example.dev/a serverside-applied");
    const shown = await kubectl.told("get task a -o yaml --show-managed-fields");
    expect(shown).to.match(/f:steps: \{\}\n {4}manager: kubectl\n {4}operation: Apply\n/);
    expect(shown).to.match(/f:steps: \{\}\n {8}f:title: \{\}\n {4}manager: other\n {4}operation: Apply\n/);
    expect(await kubectl.told("get task a -o yaml")).not.to.include("managedFields");
  });

  it("migrates from client-side to server-side apply, and still removes fields that leave the manifest", async () => {
    await using kubectl = await Writer.start(file());
    await kubectl.told("apply -f -", { stdin: task("a", "{ title: one, steps: 1 }") });
    const stdin = task("a", "{ title: one }");
    expect(await kubectl.told("apply --server-side -f -", { stdin })).to.equal("task.example.dev/a serverside-applied");
    expect(kubectl.stage.tasks.get("a")?.spec).to.deep.equal({ title: "one" });
  });

  it("shows the difference that an apply would make", async () => {
    await using kubectl = await Writer.start(file());
    await kubectl.told("apply -f -", { stdin: task("a", "{ title: one }") });
    await kubectl.told("apply --server-side -f -", { stdin: task("b", "{ title: one }") });
    expect(await kubectl.told("diff -f -", { stdin: task("a", "{ title: one }") })).to.equal("");
    for (const [name, ...flags] of [["a"], ["b", "--server-side"]] as const) {
      const { code, stdout } = await kubectl.run(["diff", ...flags, "-f", kubectl.path(task(name, "{ title: two }"))]);
      expect(code).to.equal(1);
      const lines = stdout.split("\n").filter((line) => /^[-+](?!--|\+\+)/.test(line));
      expect(lines).to.deep.equal(["-  generation: 1", "+  generation: 2", "-  title: one", "+  title: two"]);
    }
    expect(kubectl.stage.tasks.list().map(({ spec }) => spec.title)).to.deep.equal(["one", "one"]);
  });

  it("applies a list in one document", async () => {
    await using kubectl = await Writer.start(file());
    const list = (names: readonly string[]): string =>
      `apiVersion: example.dev/v1\nkind: TaskList\nitems:\n${names.map((name) => `- ${task(name).trim().replaceAll("\n", "\n  ")}`).join("\n")}\n`;
    expect(await kubectl.told("apply -f -", { stdin: list(["a", "b"]) })).to.equal(
      "task.example.dev/a created\ntask.example.dev/b created",
    );
  });
}
