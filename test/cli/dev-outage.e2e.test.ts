// No serving process: clients get the reason at once, and the next save starts one.
import { expect } from "chai";
import { kubectls, needsKubectl } from "../e2e/support/kubectls.ts";
import { kubectl } from "../go/support/kubectl.ts";
import { Dev } from "./support/dev.ts";
import { viewText } from "./support/views.ts";

const NOTES = "/services/note/clusters/root/apis/test.dev/v1/notes";
/** A view whose process dies when the object `late` is read. */
const MORTAL = viewText({
  more: `authorize: ({ name }) => {
    if (name === "late") setImmediate(() => { throw new Error("late, at https://bob:secret@example.com\\n  more"); });
    return { allowed: true };
  },`,
});
const DIED = "the serving process of virtual-workspaces dev ended unexpectedly (1): save a file to start it again";

async function died(): Promise<Dev> {
  const dev = await Dev.start({ files: { "note.ts": MORTAL } });
  await Promise.all([
    dev.get(`${NOTES}/late`).catch(() => undefined),
    dev.until(
      /Error: late[\s\S]*the serving process of virtual-workspaces dev ended unexpectedly \(1\): save a file to start it again/,
    ),
  ]);
  return dev;
}

describe("virtual-workspaces dev without a serving process", function () {
  this.timeout(30_000);

  it("answers 503 with the reason, and serves after the next save that can be served", async () => {
    await using dev = await died();
    const { code, headers, body } = await dev.get(NOTES);
    expect([code, headers["content-type"], headers["retry-after"]]).to.deep.equal([503, "application/json", undefined]);
    expect(JSON.parse(body)).to.deep.include({
      kind: "Status",
      status: "Failure",
      reason: "ServiceUnavailable",
      code: 503,
      message: `${DIED}. Error: late, at https://***@example.com`,
    });

    dev.save("note.ts", "export default {;");
    await dev.until(/SyntaxError/);
    const { message } = JSON.parse((await dev.get(NOTES)).body);
    expect(message).to.match(
      /^virtual-workspaces dev cannot serve the changed file \S+note\.ts: correct and save it\. /,
    );

    dev.save("note.ts", viewText({ text: "revived" }));
    await dev.until(/^Reloaded in/m);
    expect(JSON.parse((await dev.get(`${NOTES}/one`)).body).spec).to.deep.equal({ text: "revived" });
  });

  it("shows errors only to users with a certificate", async () => {
    await using dev = await died();
    expect(JSON.parse((await dev.get(NOTES, "nobody")).body).message).to.equal(DIED);
  });

  it("tells kubectl at once", async function () {
    needsKubectl.call(this);
    await using dev = await died();
    for (const file of kubectls()) {
      const { code, stderr } = await kubectl(file, dev.home, ["get", "notes"]);
      expect(code).to.equal(1);
      const why = `${DIED}. Error: late, at https://***@example.com`;
      // Discovery, of which kubectl prints the message only if it is a warning.
      expect(stderr.split("\n")).to.include(`Warning: ${why}`);
      const raw = await kubectl(file, dev.home, ["get", "--raw", NOTES]);
      expect(raw.stderr).to.include(`Error from server (ServiceUnavailable)`);
    }
  });

  it("ends on SIGINT within a second", async () => {
    await using dev = await died();
    await dev.get(NOTES);
    const { code, took } = await dev.end("SIGINT");
    expect(code).to.equal(0);
    expect(took).to.be.below(1000);
  });
});
