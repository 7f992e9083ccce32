// What was recorded from Kubernetes, in a workspace: kinds that are defined there answer as they do in a cluster, also
// while another workspace has others of the same group and names.
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { answersAsRecorded } from "../differential/as-recorded.ts";
import type { Target } from "../differential/caller.ts";
import { crdOf } from "../differential/crd.ts";
import { KINDS } from "../differential/kinds.ts";
import { Player } from "../differential/play.ts";
import type { Case } from "../differential/step.ts";
import { TOPICS } from "../differential/topics.ts";
import { defined, isOtherInWorkspace, looseOf, placeless, startInWorkspace } from "./support/differential.ts";
import { startWorkspaces, type Workspaces } from "./support/workspaces.ts";

const expectation = { bare: placeless, without: isOtherInWorkspace };

describe("custom kinds in a workspace answer as Kubernetes does:", function () {
  this.timeout(60_000);
  answersAsRecorded(() => startInWorkspace(KINDS, memoryStore()), expectation);
});

describe("custom kinds beside others of the same group and names in another workspace answer so, too:", function () {
  this.timeout(60_000);
  let server: Workspaces;

  answersAsRecorded(
    async () => {
      server = await startWorkspaces();
      const subject = await defined(server, "strict", KINDS.map(crdOf));
      const other = await defined(server, "loose", looseOf(KINDS));
      const stop = new AbortController();
      const writing = writeMeanwhile(other, stop.signal);
      return {
        ...subject,
        [Symbol.asyncDispose]: async () => {
          stop.abort();
          await writing;
          await server[Symbol.asyncDispose]();
        },
      };
    },
    { ...expectation, without: (one) => isOtherInWorkspace(one) || lists(one) },
  );

  it("each by the rules of its own workspace", async () => {
    const plain = { apiVersion: "oracle.dev/v1", kind: "Plain", metadata: { name: "both" }, spec: { text: 1 } };
    const at = (cluster: string) => `/clusters/root:${cluster}/apis/oracle.dev/v1/namespaces/ns/plains` as const;
    const user = "root";
    const made = async (cluster: string) => (await server.send(`POST ${at(cluster)}`, plain, { user })).status;
    expect([await made("strict"), await made("loose")]).to.deep.equal([422, 201]);
    expect((await server.get(`${at("strict")}/both`, { user })).status).to.equal(404);
  });
});

/** A list is as new as the store, whose versions count what is written to other workspaces, too. */
function lists({ steps }: Case): boolean {
  const collection = /^(?:GET |DELETE )?\/[^?]*\/[a-z]+s(?:\?|$)/;
  return steps.some((step) => collection.test("send" in step ? step.send : "watch" in step ? step.watch : ""));
}

/** Plays cases about what objects may be, again and again; what is answered does not matter. */
async function writeMeanwhile(target: Target, signal: AbortSignal): Promise<void> {
  using player = new Player(target);
  const topics = TOPICS.filter(({ name }) => ["create", "schema", "rules", "update"].includes(name));
  while (!signal.aborted)
    for (const one of topics.flatMap(({ cases }) => cases)) if (!signal.aborted) await player.play(one);
}
