// The installed kubectl prints the same at our workspace server as at a kcp. KCP_KUBECONFIG names a kcp: with RECORD=1 its
// output is recorded again, without it the recording is verified. The suite is pending when the recording has another version
// of kubectl.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createAuthority } from "../../_support/server.ts";
import { kubectls, needsKubectl } from "../../e2e/support/kubectls.ts";
import { minorOf, Typist } from "./kubectl.ts";
import { startOurs } from "./ours.ts";
import type { Subject } from "./play.ts";
import { theirs } from "./theirs.ts";
import { TRANSCRIPTS } from "./transcripts.ts";

const FILE = join(import.meta.dirname, "recorded", "kubectl.snapshot.txt");
const KUBECONFIG = process.env["KCP_KUBECONFIG"];
const RECORDS = KUBECONFIG !== undefined && process.env["RECORD"] !== undefined;

/** Returns the recorded output, by heading. */
function recorded(): ReadonlyMap<string, string> {
  const [, ...sections] = `\n${readFileSync(FILE, "utf8")}`.split("\n## ");
  return new Map(sections.map((section) => section.split(/\n(.*)/s) as [string, string]));
}

const [KUBECTL = "kubectl"] = kubectls();

/** Warnings with the reason of denied discovery, which kcp does not send (docs/reference/kcp/differences.md). */
const REASONS = /^Warning: forbidden: User "\S+" cannot get path "\/api": .+\n/gm;

async function said(subject: Subject, name: string): Promise<string> {
  using typist = new Typist(KUBECTL, subject);
  return await typist.type(TRANSCRIPTS[name] ?? []);
}

describe("kubectl at a workspace server prints the same as at kcp:", function () {
  this.timeout(300_000);
  let subject: Subject & Partial<AsyncDisposable>;

  before(async function () {
    needsKubectl.call(this);
    if (!RECORDS && recorded().get("kubectl")?.trim() !== (await minorOf(KUBECTL))) this.skip();
    subject = KUBECONFIG === undefined ? await startOurs(createAuthority()) : theirs(KUBECONFIG);
  });
  after(() => subject?.[Symbol.asyncDispose]?.());

  if (RECORDS) {
    it("is recorded again", async () => {
      const sections = [`## kubectl\n${await minorOf(KUBECTL)}\n`];
      for (const name of Object.keys(TRANSCRIPTS)) sections.push(`## ${name}\n${await said(subject, name)}\n`);
      writeFileSync(FILE, sections.join(""));
    });
    return;
  }
  for (const name of Object.keys(TRANSCRIPTS))
    it(name, async () => {
      expect((await said(subject, name)).replaceAll(REASONS, "")).to.equal(recorded().get(name)?.trimEnd());
    });
});
