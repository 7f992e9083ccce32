// Every kubectl watches and waits, for everything that it supports.
import { expect } from "chai";
import { type KubeconfigHome, kubeconfigHome, startTls, type TlsServer } from "../_support/server.ts";
import { allKubectls } from "../e2e/support/kubectls.ts";
import { building } from "./support/build.ts";
import { KINDS, type Kinds, kinds } from "./support/kinds.ts";
import { builtKubectl, kubectl, nameOf, startKubectl } from "./support/kubectl.ts";

interface Setting extends AsyncDisposable, Kinds {
  readonly home: KubeconfigHome;
}

async function start(): Promise<Setting> {
  const all = kinds();
  const server: TlsServer = await startTls([all.view]);
  const { authority, port } = server;
  const home = await kubeconfigHome({ authority, port, contexts: KINDS, namespace: "default" });
  return {
    ...all,
    home,
    [Symbol.asyncDispose]: async () => {
      home[Symbol.dispose]();
      await server.close();
    },
  };
}

/** `ADDED quote-1` of the lines of `--output-watch-events`. */
function told(lines: readonly string[]): string[] {
  return lines.filter((line) => !line.startsWith("EVENT")).map((line) => line.split(/ +/).slice(0, 2).join(" "));
}

describe("kubectl that watches", function () {
  this.timeout(60_000);
  before(building("clients"));

  // The built one exists only after the build.
  for (const kubectlOf of [builtKubectl, ...allKubectls().map((file) => () => file)]) {
    const name = kubectlOf === builtKubectl ? "built" : nameOf(kubectlOf());
    describe(name, () => {
      it("get -w prints every change, get -w -l objects that enter and leave", async () => {
        await using setting = await start();
        const { home, quotes } = setting;
        const arguments_ = ["get", "quotes", "-w", "--output-watch-events"];
        await using all = startKubectl(kubectlOf(), home, arguments_);
        await using red = startKubectl(kubectlOf(), home, [...arguments_, "-l", "team=red"]);
        await all.until("the present objects", () => told(all.lines).length === 3);
        await red.until("the present object", () => told(red.lines).length === 1);
        quotes.set("new", { text: "new" }, { labels: { team: "red" } });
        quotes.set("ssh", { text: "changed" }, { labels: { team: "blue" } });
        quotes.delete("worlds");
        await all.until("three changes", () => told(all.lines).length === 6);
        await red.until("two changes", () => told(red.lines).length === 3);
        expect(told(all.lines)).to.deep.equal([
          "ADDED nobody",
          "ADDED ssh",
          "ADDED worlds",
          "ADDED new",
          "MODIFIED ssh",
          "DELETED worlds",
        ]);
        expect(told(red.lines)).to.deep.equal(["ADDED ssh", "ADDED new", "DELETED ssh"]);
        expect(all.lines.filter((line) => line.startsWith("EVENT"))).to.have.length(1);
      });

      it("get -w without tables", async () => {
        await using setting = await start();
        const { home, quotes } = setting;
        await using plain = startKubectl(kubectlOf(), home, ["get", "quotes", "-w", "--server-print=false"]);
        await plain.until("the objects", () => plain.lines.length === 4);
        quotes.set("worlds", { text: "one" });
        quotes.set("ssh", { text: "the other" });
        await plain.until("both changes", () => plain.lines.length === 6);
        expect(plain.lines.slice(4).map((line) => line.split(" ")[0])).to.deep.equal(["worlds", "ssh"]);
      });

      it("get -w of one object, as names", async () => {
        await using setting = await start();
        const { home, quotes } = setting;
        await using one = startKubectl(kubectlOf(), home, ["get", "quote", "ssh", "-w", "-o", "name"]);
        await one.until("the object", () => one.lines.length === 1);
        // kubectl ignores the first event of such a watch, so a single change might be lost.
        const changing = setInterval(() => quotes.set("ssh", { text: `${Math.random()}` }), 20);
        try {
          quotes.set("worlds", { text: "not the one" });
          await one.until("its changes", () => one.lines.length > 2);
        } finally {
          clearInterval(changing);
        }
        expect([...new Set(one.lines)]).to.deep.equal(["quote.example.dev/ssh"]);
      });

      it("wait --for=jsonpath, condition and delete", async () => {
        await using setting = await start();
        const { home } = setting;
        const notes = setting.notes("default");
        const wait = (what: string, name: string) =>
          startKubectl(kubectlOf(), home, ["wait", `--for=${what}`, `note/${name}`, "--timeout=30s"]);
        let asked = setting.asked("watch");
        await using phase = wait("jsonpath={.status.phase}=Done", "call");
        await asked;
        notes.setStatus("call", { phase: "Started" });
        notes.setStatus("call", { phase: "Done" });
        expect([(await phase.ended).code, ...phase.lines]).to.deep.equal([0, "note.example.dev/call condition met"]);

        asked = setting.asked("watch");
        await using ready = wait("condition=Ready", "call");
        await asked;
        notes.setStatus("call", { conditions: [{ type: "Ready", status: "False" }] });
        notes.setStatus("call", { conditions: [{ type: "Ready", status: "True" }] });
        expect([(await ready.ended).code, ...ready.lines]).to.deep.equal([0, "note.example.dev/call condition met"]);

        asked = setting.asked("watch");
        await using gone = wait("delete", "call");
        await asked;
        notes.set("call", { priority: 7 });
        notes.delete("call");
        expect([(await gone.ended).code, ...gone.lines]).to.deep.equal([0, "note.example.dev/call condition met"]);
      });

      it("wait --for=create, in versions that support it", async () => {
        await using setting = await start();
        const { home } = setting;
        const version = await kubectl(kubectlOf(), home, ["version", "--client", "-o", "json"]);
        const minor = Number(/"minor": "(\d+)/.exec(version.stdout)?.[1]);
        const asked = setting.asked("get");
        await using wait = startKubectl(kubectlOf(), home, ["wait", "--for=create", "note/coming", "--timeout=30s"]);
        await Promise.race([asked, wait.ended]);
        setting.notes("default").set("coming", { priority: 1 });
        const { code } = await wait.ended;
        if (minor < 31) expect([code, wait.stderr]).to.deep.equal([1, 'error: unrecognized condition: "create"\n']);
        else expect([code, ...wait.lines]).to.deep.equal([0, "note.example.dev/coming condition met"]);
      });

      it("wait reports a timeout", async () => {
        await using setting = await start();
        const { home } = setting;
        const flags = ["--for=jsonpath={.status.phase}=Never", "--timeout=1s"];
        const { code, stderr } = await kubectl(kubectlOf(), home, ["wait", "note/milk", ...flags]);
        expect([code, stderr]).to.deep.equal([1, "error: timed out waiting for the condition on notes/milk"]);
      });
    });
  }
});
