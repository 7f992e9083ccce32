// Why: readers leave a guide that does not work in the first minute. The test runs the commands of the first tutorial in
// order against a real `dev`, and compares their output with that in the guide.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { CHILD_ENV } from "../_support/child-env.ts";
import { Dev } from "../cli/support/dev.ts";
import { needsKubectl } from "./support/kubectls.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");

/** A step of the guide: a file to save, or a command and its output. */
type Step =
  | { readonly kind: "file"; readonly path: string; readonly text: string }
  | { readonly kind: "command"; readonly command: string; readonly output: string };

interface Section {
  readonly title: string;
  readonly steps: readonly Step[];
}

function sectionsOf(markdown: string): Section[] {
  return markdown
    .split(/^## /m)
    .slice(1)
    .map((text) => ({ title: text.split("\n", 1)[0] ?? "", steps: stepsOf(text) }));
}

function stepsOf(markdown: string): Step[] {
  const pattern = /^<!-- (\S+) -->\n```ts\n([\s\S]*?)^```$|^```console\n([\s\S]*?)^```$/gm;
  return [...markdown.matchAll(pattern)].flatMap(([, path, text = "", session = ""]): Step[] =>
    path === undefined ? session.split(/^\$ /m).slice(1).map(commandOf) : [{ kind: "file", path, text }],
  );
}

function commandOf(block: string): Step {
  const [command = "", ...output] = block.split("\n");
  return { kind: "command", command, output: output.join("\n") };
}

/** Patterns of text that differs between runs, and widths of columns. All other text is compared literally. */
const CHANGING: readonly (readonly [RegExp, string])[] = [
  [/\b\d\d:\d\d:\d\d GMT[+-]\d{4} \([^)]*\)/g, "<time>"],
  [/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "<time>"],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<uid>"],
  [/\b\d{19}\b/g, "<version>"],
  [/(?<=\s)(\d+[ms])+$/gm, "<age>"],
  [/(?<=^Ready in )\d+\.\d\d(?= s)/gm, "<seconds>"],
  [/(?<=#code=)(?:[\w-]+|…)/g, "<code>"],
  [/(?<=127\.0\.0\.1:)\d+/g, "<port>"],
  [/(?<=KUBECONFIG=)\/\S+(?=\/\.virtual-workspaces\/admin\.kubeconfig$)/gm, "<clone>"],
  // The boarding train depends on the time.
  [/\b(aarhus|basel|calais|dresden|evora|fano)\b/gi, "<train>"],
  [/[ \t]+/g, " "],
  [/ $/gm, ""],
];

function normalised(text: string): string {
  return CHANGING.reduce((changed, [pattern, name]) => changed.replace(pattern, name), text).trim();
}

/** Terminal of the reader. */
class Shell {
  #folder: string;
  readonly #env: Readonly<Record<string, string | undefined>>;

  constructor(dev: Dev) {
    const [, kubeconfig] = /^export KUBECONFIG=(.*)$/m.exec(dev.text) ?? [];
    this.#folder = dev.folder.path;
    this.#env = { ...CHILD_ENV, HOME: dev.folder.path, KUBECONFIG: kubeconfig };
  }

  /** Runs a command until it exits, or stops it like Ctrl-C after this many lines. */
  async run(command: string, lines = Number.POSITIVE_INFINITY): Promise<string> {
    if (command.startsWith("cd ")) {
      this.#folder = join(this.#folder, command.slice(3));
      return "";
    }
    const child = spawn("sh", ["-c", `exec 2>&1\n${lines === Number.POSITIVE_INFINITY ? "" : "exec "}${command}`], {
      cwd: this.#folder,
      env: this.#env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      if (text.split("\n").length > lines) child.kill("SIGINT");
    });
    await once(child, "close");
    return lines === Number.POSITIVE_INFINITY ? text : text.split("\n").slice(0, lines).join("\n");
  }
}

describe("docs/tutorials/first-view.md", function () {
  this.timeout(30_000);
  const sections = sectionsOf(read("docs/tutorials/first-view.md"));
  let dev: Dev;
  let shell: Shell;

  before(async function () {
    needsKubectl.call(this);
    const examples = globSync("examples/*.ts", { cwd: root }).map((file) => [file, read(file)] as const);
    dev = await Dev.start({
      files: Object.fromEntries(examples),
      paths: ["examples/"],
      state: ".virtual-workspaces",
      installed: true,
    });
    shell = new Shell(dev);
    // Readers take their time, so the clock has struck.
    const quotes = "/services/quotes/clusters/root/apis/example.dev/v1/quotes";
    await dev.get(`${quotes}?watch=true&fieldSelector=metadata.name=clock&timeoutSeconds=3`);
  });
  after(() => dev?.[Symbol.asyncDispose]());

  it("has a command in every section except the last, which links to further pages", () => {
    expect(sections).to.have.length.above(5);
    for (const { title, steps } of sections.slice(0, -1)) expect(steps, title).to.have.length.above(0);
    expect(sections.at(-1)?.title).to.equal("Next");
  });

  for (const { title, steps } of sections) {
    it(title, async () => {
      for (const step of steps) {
        if (step.kind === "file") await save(step);
        else await run(step);
      }
    });
  }

  async function save({ path, text }: Step & { readonly kind: "file" }): Promise<void> {
    dev.save(path, text);
    await dev.until(/^Reloaded in /m);
  }

  async function run({ command, output }: Step & { readonly kind: "command" }): Promise<void> {
    const [shown, ctrlC] = output.split(/^\^C$/m);
    const expected = normalised(shown ?? "");
    if (command === "npm run dev") {
      const { scripts } = JSON.parse(read("package.json")) as { scripts: { dev: string } };
      expect(scripts.dev).to.match(/packages\/cli\/src\/bin\.ts dev examples\/$/);
      expect(normalised(dev.text.split(/^\d\d:/m, 1)[0] ?? "")).to.equal(expected);
      return;
    }
    const lines = ctrlC === undefined ? undefined : expected.split("\n").length;
    const written = await shell.run(command.replace("https://127.0.0.1:6444", dev.url), lines);
    expect(normalised(written), command).to.equal(expected);
  }
});
