// Why: the language check is worth its time only if it finds sentences from earlier versions of the project. Most bad
// sentences here are such.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureInstalled, root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { type Tree, tree } from "../_setup/tree.ts";

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly rule: string;
  readonly level: string;
  readonly message: string;
}

const home = join(root, "tools/language");
const program = join(home, "check.mjs");

/** Runs the check in a folder; a `.git` in it makes it a clone. */
async function check(folder: Tree, ...args: string[]): Promise<{ readonly ok: boolean; readonly output: string }> {
  return await run("node", [program, ...args], { cwd: folder.path });
}

const page = (text: string): string => `# A page\n\n${text}\n`;
const docstring = (text: string): string => `/** ${text} */\nexport const a = 1;\n`;
const message = (text: string): string => `throw new Error(\`${text}\`);\n`;
const help = (text: string): string => `export const flag = { name: "flag", help: "${text}" };\n`;
const title = (text: string): string => `describe("a thing", () => {\n  it("${text}", () => {});\n});\n`;
const MD = "docs/explanation/page.md";
const TS = "packages/a/src/file.ts";
const TEST = "test/a/file.test.ts";

/** Sentences of earlier versions: the rules that find each, the file, its text. */
const BAD: readonly (readonly [rules: string, file: string, text: string])[] = [
  ["weasel-opening glossary", TS, help("who we are there: somebody who may be anybody")],
  ["weasel-opening", TS, help("who gets callers' own tokens by Mounts that say Caller")],
  ["weasel-opening glossary", TS, help("they are not here: requests below /services are passed on to that URL, with")],
  ["glossary", TS, help("serve on for so long while /readyz says no")],
  ["glossary", TS, message("x is one word too many: flags name everything")],
  ["glossary", TS, docstring("Of two of one second that of the lesser name, so that all agree.")],
  ["weasel-opening", TS, docstring("What an author does about errors is not to be one more.")],
  ["glossary", MD, page("A view may be served without being told of.")],
  ["glossary", TS, "export const a = 1; // certificates of before are nobody's\n"],
  ["glossary", TEST, title("waits for both of its questions")],
  ["glossary", MD, page("An informer's attempt that is over ends without a warning of the process.")],
  [
    "weasel-opening riddle glossary",
    TS,
    docstring("What a view takes of what says who asks, which is about to be taken off."),
  ],
  [
    "glossary",
    TEST,
    "// Knows nobody: clients do not get past with the headers by which servers behind are told who asks\n",
  ],
  ["glossary", MD, page("There are no second tries, since the server may have got them.")],
  ["glossary", TS, "/* A\n * comment that nobody\n * reads. */\n"],
  ["weasel-opening", TEST, title("that looks like a review is none")],
  ["glossary", TEST, title("refuses a write that comes too late")],
  ["glossary", MD, page("Requests are passed on to the server behind.")],
  ["glossary", MD, page("Strangers are slowed down, and the keeper forgets them.")],
  ["glossary", MD, page("Its Status says why; what it says is shown as it came.")],
  ["glossary", MD, page("The stream comes to its end, and begins anew.")],
  ["glossary", TS, 'log("a request of " + n + " is " + "asked again by the cache");\n'],
  ["sentence-length", MD, page(`The server ${"reads and ".repeat(25)}writes.`)],
  ["long-sentence", TS, docstring(`The server ${"reads and ".repeat(15)}writes.`)],
  ["product-name", MD, page("Use Kubectl with kubernetes, Typescript and node.js.")],
  ["product-name", TS, docstring("Reads json, and talks to Etcd.")],
  ["table-cell", MD, page(`| a | b |\n|---|---|\n| c | ${"word ".repeat(65)} |`)],
  ["long-table-cell", MD, page(`| a | b |\n|---|---|\n| c | ${"word ".repeat(30)} |`)],
  ["json-in-echo", MD, page('```console\n$ echo \'{"kind":"Mount"}\' | kubectl apply -f -\n```')],
  ["spelling", MD, page("The server recieves a request.")],
  ["spelling", MD, page("A neighbour is recognised by its colour.")],
  ["spelling", TS, message('the certifcate of "a" has expired: renew it')],
  ["glossary", MD, page('- Nobody guesses.\n  Enforced in `a.ts` `a`; tested by `a.test.ts` "is refused".')],
  ["glossary", MD, page('The server rejects it, which is tested by the test "is refused".')],
];

/** Sentences in plain English with the same meaning, and correct text that resembles a fault. */
const GOOD: readonly (readonly [file: string, text: string])[] = [
  [TS, help("Client certificate for that server. Its user needs impersonation rights.")],
  [TS, help("Hosts that may receive the caller's bearer token (Mounts with `identity.type: Caller`).")],
  [TS, help("Do not run the built-in virtual workspaces; proxy `/services` to that URL, using:")],
  [TS, help("Keep serving for this long after `/readyz` starts to fail.")],
  [TS, message(`unexpected argument "\${name}": name a flag before it`)],
  [TS, docstring("Ties are broken by name, so that every replica picks the same one.")],
  [TS, docstring("An exception thrown by `onError` is swallowed. It is counted in the metrics.")],
  [TS, docstring("Whether the view is served but not advertised in discovery.")],
  [TS, 'import { nobody } from "./strangers who ask.ts";\nexport const refuses = /who asks/.test("what-else");\n'],
  [TS, "/**\n * Reads a list.\n *\n * ```ts\n * nobody.refuses(told);\n * ```\n * @example nobody(told)\n */\n"],
  [TS, docstring("Reports what survives a crash, what it costs, and what to do.")],
  [TS, docstring("Bearer tokens. Security: whoever learns a token is its user.")],
  [TEST, 'const told = "nobody who asks is refused by strangers";\n'],
  [TEST, title("rejects a second Authorization header with 400")],
  [TEST, title("does not retry a write that the server may have received")],
  [MD, page("Certificates issued earlier are no longer valid. Tests pass on Linux and on Node 24.")],
  [MD, page("kubectl prints `connection refused` when it gets `http://localhost`, or a connection refused by a host.")],
  [
    MD,
    page(
      "Explain what the page does and what it needs. A server behind a load balancer has several tries left to make.",
    ),
  ],
  [MD, page('```yaml\nkind: Mount\n```\n\n```console\n$ kubectl get nobody -o json | echo "{told}"\n```')],
  [MD, page('- The server rejects it.\n  Enforced in `a.ts` `a`; tested by `a.test.ts` "is refused, or "told"".')],
  [MD, page("See [what nobody asked](what-nobody-asked.md) of `nobody`.").replace("what nobody asked", "the page")],
];

describe("the language check", function () {
  this.timeout(60_000);
  let folder: Tree;
  let findings: readonly Finding[];
  const bad = (index: number): string => BAD[index]?.[1].replace(/(\.test)?\.\w+$/, `-bad${index}$&`) ?? "";
  const good = (index: number): string => GOOD[index]?.[0].replace(/(\.test)?\.\w+$/, `-good${index}$&`) ?? "";

  before(async function () {
    this.timeout(180_000);
    await ensureInstalled(home);
    folder = tree({
      ".git/HEAD": "",
      ...Object.fromEntries(BAD.map(([, , text], index) => [bad(index), text])),
      ...Object.fromEntries(GOOD.map(([, text], index) => [good(index), text])),
    });
    findings = JSON.parse((await check(folder, "--all", "--json")).output).findings;
  });
  after(() => folder[Symbol.dispose]());

  for (const [index, [rules, , text]] of BAD.entries())
    it(`finds ${rules} in: ${text.replace(/\s+/g, " ").slice(0, 110)}`, () => {
      const found = findings.filter(({ file }) => file === bad(index)).map(({ rule }) => rule);
      expect(found).to.include.members(rules.split(" "));
    });

  for (const [index, [, text]] of GOOD.entries())
    it(`accepts: ${text.replace(/\s+/g, " ").slice(0, 110)}`, () => {
      expect(findings.filter(({ file }) => file === good(index))).to.deep.equal([]);
    });

  it("reports line, column, the word and its replacement, also in the later lines of a comment", () => {
    const [found] = findings.filter(({ file }) => file === bad(14));
    expect(found).to.include({ line: 2, column: 17, level: "error" });
    expect(found?.message).to.equal('"nobody": name the party: "a user", "no client", "every caller"');
  });

  it("names the American spelling of a British word", () => {
    const messages = findings.filter(({ file }) => file === bad(30)).map(({ message }) => message);
    expect(messages.map((text) => /write "(\w+)"/.exec(text)?.[1])).to.deep.equal(["neighbor", "recognized", "color"]);
  });

  it("warns of sentences above 30 words and cells above 120 characters, and fails above 45 and 300", () => {
    const levels = new Map(findings.map(({ rule, level }) => [rule, level]));
    expect([levels.get("long-sentence"), levels.get("long-table-cell")]).to.deep.equal(["warning", "warning"]);
    expect([levels.get("sentence-length"), levels.get("table-cell")]).to.deep.equal(["error", "error"]);
  });

  it("prints 60 findings at most, then their number, and fails", async () => {
    using many = tree({ ".git/HEAD": "", "README.md": page("Nobody asks.\n\n".repeat(70)) });
    const { ok, output } = await check(many, "--all");
    const lines = output.split("\n");
    expect(ok).to.equal(false);
    expect(lines).to.have.lengthOf(62);
    expect(lines[0]).to.match(/^README\.md:3:1 "Nobody": .* \(glossary\)$/);
    expect(lines.slice(-2)).to.deep.equal(["... and 10 more", "language: 1 files, 0 pending, 70 errors, 0 warnings"]);
  });

  it("passes with warnings, which it prints for files that are named", async () => {
    using warned = tree({ ".git/HEAD": "", "README.md": page(`The server ${"reads and ".repeat(15)}writes.`) });
    const all = await check(warned, "--all");
    expect(all).to.deep.equal({ ok: true, output: "language: 1 files, 0 pending, 0 errors, 1 warnings" });
    expect((await check(warned, "--all", "README.md")).output).to.match(
      /^README\.md:3:1 warning: sentence of 33 words/,
    );
  });

  it("rejects a path that does not exist, and a file that it cannot read", async () => {
    using some = tree({ ".git/HEAD": "", "a.json": "{}" });
    expect((await check(some, "docs/none.md")).output).to.contain("docs/none.md: no such file or folder");
    expect((await check(some, "a.json")).output).to.contain("a.json: only .md and .ts files are checked");
  });
});

describe("the pending list of the language check", function () {
  this.timeout(60_000);
  const files = {
    ".git/HEAD": "",
    "docs/old.md": page("Nobody asks."),
    "docs/new.md": page("No client asks."),
    "pending.txt": "docs/old.md\n",
  };

  before(async function () {
    this.timeout(180_000);
    await ensureInstalled(home);
  });

  it("skips a listed file, unless --all is given", async () => {
    using folder = tree(files);
    const listed = await check(folder, "--pending=pending.txt");
    expect(listed).to.deep.equal({ ok: true, output: "language: 1 files, 1 pending, 0 errors, 0 warnings" });
    expect((await check(folder, "--pending=pending.txt", "--all", "docs/old.md")).ok).to.equal(false);
  });

  it("fails when a listed file has no finding any more, or is gone", async () => {
    using folder = tree({ ...files, "pending.txt": "# a comment\ndocs/old.md\ndocs/new.md\ndocs/gone*.md\n" });
    const { ok, output } = await check(folder, "--pending=pending.txt");
    expect(ok).to.equal(false);
    expect(output.split("\n").slice(0, -1)).to.deep.equal([
      "pending.txt: docs/new.md has no error any more: remove it from the list",
      "pending.txt: docs/gone*.md has no error any more: remove it from the list",
    ]);
  });

  it("is rewritten with every file that has an error, and never from some files only", async () => {
    using folder = tree(files);
    await check(folder, "--pending=pending.txt", "--write-pending");
    expect(readFileSync(join(folder.path, "pending.txt"), "utf8")).to.equal("docs/old.md\n");
    expect((await check(folder, "--pending=pending.txt")).ok).to.equal(true);
    expect((await check(folder, "--pending=pending.txt", "--write-pending", "docs/new.md")).ok).to.equal(false);
    expect(readFileSync(join(folder.path, "pending.txt"), "utf8")).to.equal("docs/old.md\n");
  });
});
