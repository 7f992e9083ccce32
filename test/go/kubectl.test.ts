// kubectl reads everything: the newest version, the installed one, and older ones if they are available.
import { expect } from "chai";
import { type KubeconfigHome, kubeconfigHome, startTls, type TlsServer } from "../_support/server.ts";
import { allKubectls } from "../e2e/support/kubectls.ts";
import { building } from "./support/build.ts";
import { KINDS, kinds } from "./support/kinds.ts";
import { builtKubectl, kubectl, nameOf, type Output } from "./support/kubectl.ts";

/** Commands with the same output for every kubectl. */
const COMMANDS = `
api-resources
api-resources -o wide
api-resources -o name --namespaced=true
api-versions
get quotes
get qt -o wide
get quote ssh -o yaml
get quotes -o yaml
get quotes -o json
get quotes -o name
get sayings -o name
get quotes -l team=red
get quotes -l team!=red
get quotes --field-selector=spec.author=kcp
get quotes --show-labels
get quotes --no-headers
get quotes --sort-by=.spec.author
get quotes --chunk-size=1
get quotes --server-print=false
get quotes -o custom-columns=N:.metadata.name,T:.spec.text
get quotes -o jsonpath={.items[*].spec.author}
get quote missing
get quote missing --ignore-not-found
get quotes,notes
get quote/ssh note/milk
get nt
get notes -A
get notes -A -o wide
get notes -A --chunk-size=1
get notes -A --server-print=false
get notes -n other -o yaml
get notes -n nowhere
get cm settings -o yaml
get things
describe quote ssh
describe note milk
describe quote missing
explain quotes
explain quotes --recursive
explain notes.spec.owner.name
explain configmaps --recursive
explain notes.nothing
auth can-i get notes/milk
auth can-i create quotes -q
auth can-i get /apis
auth can-i --list
`;
/** Removes empty lines, which differ between versions. */
function compact(output: Output | undefined): Output | undefined {
  return output && { ...output, stdout: output.stdout.replaceAll(/\n{2,}/g, "\n") };
}

const commands = COMMANDS.trim().split("\n");

describe("kubectl", function () {
  this.timeout(120_000);
  let server: TlsServer;
  let home: KubeconfigHome;
  const expected = new Map<string, Output>();

  before(async function () {
    await building("clients").call(this);
    server = await startTls([kinds().view]);
    const { authority, port } = server;
    home = await kubeconfigHome({ authority, port, contexts: KINDS, namespace: "default" });
    for (const command of commands) expected.set(command, await kubectl(builtKubectl(), home, command.split(" ")));
  });
  after(async () => {
    home[Symbol.dispose]();
    await server.close();
  });

  /** Returns the output of the built kubectl: stdout, or stderr after a failure. */
  const told = (command: string): string => {
    const output = expected.get(command);
    if (output === undefined) throw new Error(`${command} was not run`);
    return output.code === 0 ? output.stdout : `${output.code}: ${output.stderr}`;
  };

  describe("built from its module", () => {
    it("finds all kinds", () => {
      expect(told("api-resources -o wide").replaceAll(/ +$/gm, "")).to.equal(
        [
          "NAME         SHORTNAMES   APIVERSION       NAMESPACED   KIND        VERBS                                                        CATEGORIES",
          "configmaps   cm           v1               true         ConfigMap   create,delete,deletecollection,get,list,patch,update,watch",
          "notes        nt           example.dev/v1   true         Note        create,delete,deletecollection,get,list,patch,update,watch   sayings",
          "quotes       qt           example.dev/v1   false        Quote       create,delete,deletecollection,get,list,patch,update,watch   sayings",
        ].join("\n"),
      );
    });

    it("shows the columns of a kind, and more of them with -o wide", () => {
      expect(told("get quotes")).to.match(/^NAME +TEXT +AGE\nnobody +Nobody said this: ❤ +6y\d+d\n/);
      expect(told("get qt -o wide")).to.match(
        /^NAME +TEXT +AUTHOR +AGE\nnobody .*\nssh +Edit is the new ssh\. +kubectl +/,
      );
      expect(told("get quotes --server-print=false")).to.match(/^NAME +AGE\nnobody +6y\d+d\n/);
      expect(told("get notes -A")).to.match(/^NAMESPACE +NAME +PRIORITY +PHASE +AGE\ndefault +call +2 +6y/);
      expect(told("get quotes --chunk-size=1")).to.equal(told("get quotes"));
      expect(told("get notes -A --chunk-size=1")).to.equal(told("get notes -A"));
    });

    it("writes YAML and JSON", () => {
      expect(told("get quote ssh -o yaml")).to.match(/^apiVersion: example.dev\/v1\nkind: Quote\nmetadata:\n/);
      const list = JSON.parse(told("get quotes -o json"));
      expect(list.items.map((item: { spec: { text: string } }) => item.spec.text)).to.deep.equal([
        "Nobody said this: ❤",
        "Edit is the new ssh.",
        "One API server, many worlds.",
      ]);
    });

    it("applies selectors", () => {
      expect(told("get quotes -l team=red").split("\n")).to.have.length(2);
      expect(told("get quotes -l team!=red").split("\n")).to.have.length(3);
      expect(told("get quotes --field-selector=spec.author=kcp")).to.include("worlds");
      expect(told("get sayings -o name").split("\n")).to.have.length(5);
    });

    it("describes and explains", () => {
      expect(told("describe note milk")).to.match(
        /^Name: +milk\nNamespace: +default\n[\s\S]*Status:[\s\S]*Phase: +Done\nEvents: +<none>$/,
      );
      expect(told("explain quotes --recursive")).to.include(
        "  spec\t<Object> -required-\n    author\t<string>\n    text\t<string> -required-",
      );
      expect(told("explain notes.nothing")).to.equal('1: error: field "nothing" does not exist');
    });

    it("reviews its identity and permissions, in protobuf", async () => {
      const { stdout, stderr } = await kubectl(builtKubectl(), home, ["auth", "whoami", "-v=8"]);
      expect(stdout)
        .to.match(/^Username +admin$/m)
        .and.match(/^Groups +\[admins system:authenticated\]$/m);
      expect(stderr).to.include("application/vnd.kubernetes.protobuf");
      expect(told("auth can-i get notes/milk")).to.equal("yes");
      expect(told("auth can-i --list")).to.match(
        /^selfsubjectreviews\.authentication\.k8s\.io +\[\] +\[\] +\[create\]$/m,
      );
    });

    it("reports missing objects and kinds", () => {
      expect(told("get quote missing")).to.equal(
        '1: Error from server (NotFound): quotes.example.dev "missing" not found',
      );
      expect(told("get quote missing --ignore-not-found")).to.equal("");
      expect(told("get things")).to.equal('1: error: the server doesn\'t have a resource type "things"');
      expect(expected.get("get notes -n nowhere")?.stderr).to.equal("No resources found in nowhere namespace.");
    });

    it("reads raw paths below the view", async () => {
      const { stdout } = await kubectl(builtKubectl(), home, ["get", "--raw", "/apis/example.dev/v1/quotes/ssh"]);
      expect(JSON.parse(stdout).spec.author).to.equal("kubectl");
    });

    it("explains every kind, recursively", async () => {
      for (const kind of told("api-resources -o name --namespaced=true").split("\n").concat("quotes.example.dev")) {
        const { code, stdout } = await kubectl(builtKubectl(), home, ["explain", kind, "--recursive"]);
        expect(code).to.equal(0);
        expect(stdout).to.match(/FIELDS:\n {2}apiVersion\t<string>\n/);
      }
    });
  });

  for (const file of allKubectls()) {
    it(`${nameOf(file)} of the machine prints the same as the built one`, async () => {
      for (const command of commands) {
        const output = await kubectl(file, home, command.split(" "));
        expect(compact(output), `kubectl ${command}`).to.deep.equal(compact(expected.get(command)));
      }
      const raw = await kubectl(file, home, ["get", "--raw", `${KINDS.kinds}/apis/example.dev/v1/quotes/ssh`]);
      const below = await kubectl(file, home, ["get", "--raw", "/apis/example.dev/v1/quotes/ssh"]);
      expect([raw.code, below.code], "older ones name the whole path, newer ones the rest of it").to.have.members([
        0, 1,
      ]);
    });
  }
});
