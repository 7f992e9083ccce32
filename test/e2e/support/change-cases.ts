// Commands that change and delete objects, and their output, the same for every kubectl.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { task, Writer } from "./writer.ts";

const FINALIZER = "example.dev/hold";

/** Defines the cases of one kubectl, within a `describe`. */
export function changeCases(file: () => string): void {
  it("sends merge and JSON patches, and prints alternatives when a strategic one is rejected", async () => {
    await using kubectl = await Writer.start(file());
    const { tasks } = kubectl.stage;
    tasks.set("a", { title: "one" });
    const patch = (type: string, body: unknown): readonly string[] => [
      ...["patch", "task", "a", ...(type === "" ? [] : [`--type=${type}`])],
      ...["-p", JSON.stringify(body)],
    ];
    expect(await kubectl.told(patch("merge", { spec: { title: "merged", steps: 1 } }))).to.equal(
      "task.example.dev/a patched",
    );
    expect(await kubectl.told(patch("merge", { spec: { steps: 1 } }))).to.equal(
      "task.example.dev/a patched (no change)",
    );
    expect(await kubectl.told(patch("json", [{ op: "remove", path: "/spec/steps" }]))).to.equal(
      "task.example.dev/a patched",
    );
    expect(tasks.get("a")?.spec).to.deep.equal({ title: "merged" });
    expect(await kubectl.refused(patch("json", [{ op: "test", path: "/spec/title", value: "x" }]))).to.match(
      /^The request is invalid: .*test(ing)? .*\/spec\/title.* failed/,
    );
    // The default is strategic, which no kind of a CustomResourceDefinition supports.
    for (const type of ["", "strategic"]) {
      expect(await kubectl.refused(patch(type, { spec: { title: "x" } }))).to.equal(
        "error: application/strategic-merge-patch+json is not supported by example.dev/v1, Kind=Task: the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
      );
    }
    const status = [
      ...patch("merge", { status: { phase: "Done" }, spec: { title: "not here" } }),
      "--subresource=status",
    ];
    expect(await kubectl.told(status)).to.equal("task.example.dev/a patched");
    expect(tasks.get("a")).to.deep.include({ spec: { title: "merged" }, status: { phase: "Done" } });
  });

  it("labels and annotates one object or all, and overwrites only with the flag", async () => {
    await using kubectl = await Writer.start(file());
    const { tasks } = kubectl.stage;
    for (const name of ["a", "b"]) tasks.set(name, { title: name });
    expect(await kubectl.told("label task a color=red")).to.equal("task.example.dev/a labeled");
    expect(await kubectl.refused("label task a color=blue")).to.include("'color' already has a value (red)");
    expect(await kubectl.told("label task a color=blue --overwrite")).to.equal("task.example.dev/a labeled");
    expect(await kubectl.told("label tasks --all kept=yes")).to.equal(
      "task.example.dev/a labeled\ntask.example.dev/b labeled",
    );
    expect(await kubectl.told("get tasks -l color=blue,kept -o name")).to.equal("task.example.dev/a");
    expect(await kubectl.told("label task a color-")).to.equal("task.example.dev/a unlabeled");
    expect(await kubectl.told(["annotate", "tasks", "--all", "note=hi there"])).to.match(
      /^task\.example\.dev\/a annotated?\ntask\.example\.dev\/b annotated?$/,
    );
    expect(tasks.get("b")?.metadata.annotations).to.include({ note: "hi there" });
    expect(await kubectl.told("annotate task b note-")).to.match(/^task\.example\.dev\/b annotated?$/);
    expect(tasks.get("b")?.metadata.annotations).not.to.have.property("note");
  });

  it("replaces an object; with --force by a new one of the same name; fails for a missing one", async () => {
    await using kubectl = await Writer.start(file());
    const { tasks } = kubectl.stage;
    const { uid } = tasks.set("a", { title: "one", steps: 1 }).metadata;
    const stdin = task("a", "{ title: two }");
    expect(await kubectl.told("replace -f -", { stdin })).to.equal("task.example.dev/a replaced");
    expect(tasks.get("a")).to.deep.include({ spec: { title: "two" } });
    expect(tasks.get("a")?.metadata.uid).to.equal(uid);
    expect(await kubectl.told(["replace", "--force", "-f", kubectl.path(stdin)])).to.equal(
      'task.example.dev "a" deleted\ntask.example.dev/a replaced',
    );
    expect(tasks.get("a")?.metadata.uid).not.to.equal(uid);
    expect(await kubectl.refused("replace -f -", { stdin: task("b") })).to.equal(
      'Error from server (NotFound): error when replacing "STDIN": tasks.example.dev "b" not found',
    );
    const old = task("a", "{ title: old }", ', resourceVersion: "1"');
    expect(await kubectl.refused("replace -f -", { stdin: old })).to.match(
      /^Error from server \(Conflict\): error when replacing "STDIN": Operation cannot be fulfilled on tasks\.example\.dev "a": the object has been modified;/,
    );
  });

  it("edits an object, reopens the editor with the reason of an error, and sends nothing without a change", async () => {
    await using kubectl = await Writer.start(file());
    const { tasks } = kubectl.stage;
    tasks.set("a", { title: "one" });
    const editor = (change: string): { readonly editor: string } => ({ editor: `sed -i "${change}" "$1"` });
    expect(await kubectl.told("edit task a", editor("s/title: one/title: two/"))).to.equal("task.example.dev/a edited");
    expect(tasks.get("a")?.spec.title).to.equal("two");
    expect(await kubectl.told("edit task a", editor("s/nothing/something/"))).to.include(
      "Edit cancelled, no changes made.",
    );
    const seen = `cp "$1" "${kubectl.folder}/seen-$(ls "${kubectl.folder}" | grep -c seen-)"`;
    const twice = [
      `if [ -f "${kubectl.folder}/seen-0" ]; then sed -i "s/title: 5/title: mended/" "$1"; else sed -i "s/title: two/title: 5/" "$1"; fi`,
    ];
    expect(await kubectl.told("edit task a", { editor: [...twice, seen].join("\n") })).to.include(
      "task.example.dev/a edited",
    );
    expect(tasks.get("a")?.spec.title).to.equal("mended");
    const reopened = readdirSync(kubectl.folder).filter((name) => name.startsWith("seen-"));
    expect(reopened, "opened twice").to.have.length(2);
    expect(readFileSync(join(kubectl.folder, "seen-1"), "utf8")).to.match(
      /^# tasks\.example\.dev "a" was not valid:\n# \* spec\.title: Invalid value: "integer": spec\.title in body must be of type string: "integer"\n#$/m,
    );
  });

  it("scales if the current number is the expected one", async () => {
    await using kubectl = await Writer.start(file());
    kubectl.stage.tasks.set("a", { title: "one", steps: 1 });
    expect(await kubectl.told("scale task/a --replicas=3")).to.equal("task.example.dev/a scaled");
    expect(await kubectl.refused("scale task/a --replicas=4 --current-replicas=9")).to.match(
      /[Ee]xpected replicas to be 9, was 3/,
    );
    expect(kubectl.stage.tasks.get("a")?.spec.steps).to.equal(3);
  });

  it("waits for a condition, a field and a deletion", async () => {
    await using kubectl = await Writer.start(file());
    const { tasks } = kubectl.stage;
    tasks.set("a", { title: "one" });
    const ready = { conditions: [{ type: "Ready", status: "True" as const }] };
    const waits = [
      ["--for=condition=Ready", (): unknown => tasks.setStatus("a", { phase: "Started", ...ready })],
      ["--for=jsonpath={.status.phase}=Done", (): unknown => tasks.setStatus("a", { phase: "Done", ...ready })],
      ["--for=delete", (): unknown => tasks.delete("a")],
    ] as const;
    for (const [what, happen] of waits) {
      const waiting = kubectl.told(["wait", what, "task/a", "--timeout=20s"]);
      happen();
      // An object that is deleted first has not met the condition.
      const met =
        what === "--for=delete" ? /^(task\.example\.dev\/a condition met)?$/ : /^task\.example\.dev\/a condition met$/;
      expect(await waiting).to.match(met);
    }
    tasks.set("b", { title: "b" });
    expect(await kubectl.refused("wait --for=condition=Ready task/b --timeout=1s")).to.equal(
      "error: timed out waiting for the condition on tasks/b",
    );
  });
}

/** Defines the cases of deletions, within a `describe`. */
export function deleteCases(file: () => string): void {
  it("deletes by name, file and label, and all; reports missing objects", async () => {
    await using kubectl = await Writer.start(file());
    const { tasks } = kubectl.stage;
    for (const name of ["a", "b", "c", "d", "e", "f"])
      tasks.set(name, { title: name }, { labels: { odd: "ace".includes(name) ? "yes" : "no" } });
    const gone = (...names: string[]): string => names.map((name) => `task.example.dev "${name}" deleted`).join("\n");
    expect(await kubectl.told("delete task a b")).to.equal(gone("a", "b"));
    expect(await kubectl.refused("delete task a")).to.equal(
      'Error from server (NotFound): tasks.example.dev "a" not found',
    );
    expect(await kubectl.told("delete task a --ignore-not-found")).to.equal("");
    expect(await kubectl.told(["delete", "-f", kubectl.path(task("d"))])).to.equal(gone("d"));
    expect(await kubectl.told("delete tasks -l odd=yes")).to.equal(gone("c", "e"));
    expect(await kubectl.told("delete tasks --all")).to.equal(gone("f"));
    expect(await kubectl.told("delete tasks --all")).to.include("No resources found");
  });

  it("accepts every cascade and every grace period", async () => {
    await using kubectl = await Writer.start(file());
    const { tasks } = kubectl.stage;
    const flags = ["--cascade=foreground", "--cascade=orphan", "--cascade=background", "--now", "--grace-period=5"];
    for (const flag of flags) {
      tasks.set("a", { title: "a" });
      expect(await kubectl.told(["delete", "task", "a", flag, "--timeout=10s"])).to.equal(
        'task.example.dev "a" deleted',
      );
      expect(tasks.get("a"), flag).to.equal(undefined);
    }
    tasks.set("a", { title: "a" });
    const forced = await kubectl.told("delete task a --grace-period=0 --force");
    expect(forced).to.match(/task\.example\.dev "a" force deleted/);
    expect(tasks.get("a")).to.equal(undefined);
  });

  it("waits for finalizers by default; the object is deleted when they are removed", async () => {
    await using kubectl = await Writer.start(file());
    const { tasks } = kubectl.stage;
    await kubectl.told("create -f -", { stdin: task("a", "{ title: a }", `, finalizers: [${FINALIZER}]`) });
    expect(await kubectl.told("delete task a --wait=false")).to.equal('task.example.dev "a" deleted');
    expect(tasks.get("a")?.metadata.deletionTimestamp).to.be.a("string");
    expect(await kubectl.refused("delete task a --timeout=1s")).to.equal(
      "error: timed out waiting for the condition on tasks/a",
    );
    const finalizers = (...names: readonly string[]): readonly string[] => [
      ...["patch", "task", "a", "--type=merge", "-p"],
      JSON.stringify({ metadata: { finalizers: names } }),
    ];
    expect(await kubectl.refused(finalizers(FINALIZER, "example.dev/more"))).to.match(
      /^The Task "a" is invalid: metadata\.finalizers: Forbidden: no new finalizers can be added if the object is being deleted/,
    );
    const waiting = kubectl.told("delete task a --timeout=20s").catch(String);
    expect(await kubectl.told(finalizers())).to.equal("task.example.dev/a patched");
    expect(await waiting).to.match(/deleted$|NotFound/);
    expect(tasks.get("a")).to.equal(undefined);
  });
}
