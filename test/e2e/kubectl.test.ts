// Every available kubectl against a real `dev` with the examples: commands and their output.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { Dev } from "../cli/support/dev.ts";
import { viewText } from "../cli/support/views.ts";
import { kubectl, type Output, startKubectl } from "../go/support/kubectl.ts";
import { kubectls, nameOf } from "./support/kubectls.ts";

const KINDS = ["documents", "notes", "quotes", "reminders", "runbooks", "salaries", "todos", "trains", "vaults"];

/** Discovery of vaults is open to all users, and their objects to the admin. */
const CLOSED = viewText({ name: "vault" }).replace(
  "authorize: authenticated()",
  `authorize: ({ user, isResource }) =>
    user.in("system:masters") || !isResource ? { allowed: true } : { allowed: false, reason: "ask for the key" }`,
);

/** Closed to all users, discovery included. */
const LOCKED = viewText({ name: "locked" }).replace("authenticated()", `() => ({ allowed: false, reason: "ask ann" })`);

describe("kubectl against dev", function () {
  this.timeout(60_000);
  const found = kubectls();
  let dev: Dev;

  before(async function () {
    if (found.length === 0) this.skip();
    dev = await Dev.start({
      files: { "vault.ts": CLOSED, "locked.ts": LOCKED },
      paths: [join(root, "examples"), "vault.ts", "locked.ts"],
    });
  });
  after(() => dev?.[Symbol.asyncDispose]());

  it(`is found: ${found.map(nameOf).join(", ") || "none on the PATH, none in KUBECTL_MATRIX"}`, function () {
    if (found.length === 0) this.skip();
  });

  for (const file of found) {
    describe(nameOf(file), () => {
      /** A separate HOME, without the cache of another version. */
      const home = () => {
        const folder = join(dev.folder.path, `home-of-${nameOf(file)}`);
        mkdirSync(folder, { recursive: true });
        return { home: folder, kubeconfig: dev.home.kubeconfig };
      };
      const run = (...args: string[]): Promise<Output> => kubectl(file, home(), args);
      const told = async (...args: string[]): Promise<string> => {
        const { code, stdout, stderr } = await run(...args);
        expect(code, `${args.join(" ")}: ${stderr}`).to.equal(0);
        return stdout;
      };
      const refused = async (...args: string[]): Promise<string> => {
        const { code, stderr } = await run(...args);
        expect(code, args.join(" ")).to.equal(1);
        return stderr;
      };

      it("finds every kind in the current context", async () => {
        const table = await told("api-resources", "--no-headers", "-o", "wide");
        expect(table.split("\n").map((line) => line.split(/ {2,}/)[0])).to.deep.equal(KINDS);
        expect(table).to.match(/^quotes +example\.dev\/v1 +false +Quote +(\[get list watch\]|get,list,watch) *$/m);
        expect((await told("api-versions")).split("\n")).to.deep.equal(["example.dev/v1", "test.dev/v1", "v1"]);
      });

      it("explains every kind, recursively", async () => {
        const texts = await Promise.all(KINDS.map((kind) => told("explain", kind, "--recursive")));
        for (const text of texts)
          expect(text)
            .to.match(/^VERSION: +v1$/m)
            .and.match(/^ {2}spec\t<Object>/m);
        expect(texts[KINDS.indexOf("quotes")]).to.match(/^ {4}author\t<string>\n {4}text\t<string> -required-$/m);
      });

      it("gets tables, wide tables, YAML and JSON", async () => {
        expect(await told("get", "documents")).to.match(
          /^NAME +TITLE +AUDIENCE +AGE\nmenu .*\nplan +Where we go next +staff +\d+[sm]/,
        );
        expect(await told("get", "salary/ada", "-o", "wide")).to.match(/^NAME +EUROS +AGE\nada +5200 +/);
        expect(await told("get", "quote", "ssh", "-o", "yaml")).to.match(
          /\nspec:\n {2}author: kubectl\n {2}text: Edit is the new ssh\.$/,
        );
        const list = JSON.parse(await told("get", "documents,todos", "-o", "json")) as {
          kind: string;
          items: { kind: string }[];
        };
        expect(list.items.map(({ kind }) => kind)).to.deep.equal(["Document", "Document", "Todo"]);
      });

      it("supports selectors and pages", async () => {
        expect(await told("get", "documents", "--field-selector=metadata.name=menu", "-o", "name")).to.equal(
          "document.example.dev/menu",
        );
        expect((await run("get", "documents", "-l", "team=none")).stderr).to.equal("No resources found");
        expect(await told("get", "documents", "--chunk-size=1", "-o", "name")).to.equal(
          await told("get", "documents", "-o", "name"),
        );
      });

      it("describes objects, and reads raw paths", async () => {
        expect(await told("describe", "todo", "milk")).to.match(
          /^Name: +milk\n[\s\S]*Spec:\n +Done: +false\n +Title: +Buy milk\nEvents: +<none>$/,
        );
        // Older versions resolve the path from the server's root, newer ones from the context's URL.
        const raw = await Promise.all(
          ["/services/dev/clusters/root/version", "/version"].map((path) => run("get", "--raw", path)),
        );
        const answered = raw.filter(({ code }) => code === 0);
        expect(answered).to.have.length(1);
        expect(JSON.parse(answered[0]?.stdout ?? "")).to.have.property("gitVersion");
      });

      it("watches modified, added and removed objects, and waits", async () => {
        const options = ["--watch", "--output-watch-events"];
        await using quotes = startKubectl(file, home(), ["get", "quotes", ...options]);
        await using trains = startKubectl(file, home(), ["get", "trains", ...options]);
        const [deleted, reached] = await Promise.all([
          run("wait", "--for=delete", "train", "--all", "--timeout=20s"),
          run("wait", "--for=jsonpath={.spec.author}=kubectl", "quote/ssh", "--timeout=20s"),
          quotes.until("a change", () => quotes.lines.some((line) => line.startsWith("MODIFIED   clock "))),
          trains.until("one that leaves", () => trains.lines.some((line) => line.startsWith("DELETED "))),
          trains.until("one that enters", () => trains.lines.filter((line) => line.startsWith("ADDED ")).length > 1),
        ]);
        expect(deleted).to.have.property("code", 0);
        expect(deleted.stdout).to.match(/^train\.example\.dev\/\w+ condition met$/);
        expect(reached).to.include({ code: 0, stdout: "quote.example.dev/ssh condition met" });
      });

      it("prints the reason of a denial", async () => {
        expect(await refused("get", "quote", "nobody")).to.equal(
          'Error from server (NotFound): quotes.example.dev "nobody" not found',
        );
        expect(await refused("get", "secrets")).to.equal('error: the server doesn\'t have a resource type "secrets"');
        expect(await refused("delete", "quote", "ssh")).to.equal(
          'Error from server (MethodNotAllowed): delete is not supported on resources of kind "quotes.example.dev"',
        );
        expect(await refused("--context", "guest", "get", "vaults")).to.equal(
          'Error from server (Forbidden): vaults.test.dev is forbidden: User "guest" cannot list resource "vaults" in API group "test.dev" at the cluster scope: ask for the key',
        );
        expect(await refused("--context", "locked", "get", "locked")).to.match(
          /^Warning: forbidden: User "admin" cannot get path "\/services\/locked\/clusters\/root\/api": ask ann$/m,
        );
      });
    });
  }
});
