import { expectSame, expectStatus, skip } from "../assertions/expect.ts";
import { at } from "../assertions/json.ts";
import { ABSENT } from "../probe/collection-probe.ts";
import type { Check } from "./check.ts";
import { TABLE } from "./representations.ts";

const BAD_REQUEST = { codes: [400], reasons: ["BadRequest"] };

/** E: every error is a Status. */
export const errorChecks: readonly Check[] = [
  {
    id: "E1",
    title: "a path that is not served gets a Status",
    protects: "clients cannot decode the failure: Kubernetes itself answers plain text here",
    strict: true,
    scope: "server",
    run: async (probe) => {
      for (const path of [
        "/conformance-nothing-here",
        "/apis/nothing.here.example",
        "/apis/nothing.here.example/v1/things",
      ])
        expectStatus(await probe.get(path), { codes: [404], reasons: ["NotFound"] });
    },
  },
  {
    id: "E2",
    title: "a missing object gets a Status that names it",
    protects: "clients cannot tell a missing object from a missing resource",
    scope: "resource",
    verbs: ["get", "list"],
    run: async (probe) => {
      const { group, name } = probe.resource;
      const answer = await probe.get(probe.absentPath);
      if (answer.status === 403) skip("the user of this run may not read it");
      const status = expectStatus(answer, { codes: [404], reasons: ["NotFound"] });
      const { group: found = "", ...details } = (at(status, "details") ?? {}) as { readonly group?: string };
      expectSame(answer.request, "details", {
        expected: { group, name: ABSENT, kind: name },
        actual: { group: found, ...details },
      });
    },
  },
  {
    id: "E4",
    title: "a wrong token gets a Status with reason Unauthorized",
    protects: "clients do not know that they must log in again",
    scope: "server",
    run: async (probe) => {
      if (!probe.identified) skip("the run has no credentials");
      const answer = await probe.get("/apis", { token: "conformance-no-such-token" });
      if (answer.status !== 401) skip(`a wrong token gets ${answer.status}, which S2 reports`);
      expectStatus(answer, { codes: [401], reasons: ["Unauthorized"] });
    },
  },
  {
    id: "E5",
    title: "an unavailable media type gets a Status with reason NotAcceptable",
    protects: "clients cannot find out which media types are available",
    scope: "resource",
    verbs: ["list"],
    run: async (probe) => {
      const answer = await probe.answer({}, { accept: "application/x-nobody-knows" });
      if (answer.status !== 406) skip(`the answer is ${answer.status}, which T6.12 reports`);
      expectStatus(answer, { codes: [406], reasons: ["NotAcceptable"] });
    },
  },
  {
    id: "E6",
    title: "malformed selectors, limits and includeObject get 400 and a Status",
    protects: "a misspelled selector selects everything",
    scope: "resource",
    verbs: ["list"],
    run: async (probe) => {
      const malformed = [
        { labelSelector: "a in (" },
        { labelSelector: ",," },
        { limit: "many" },
        { fieldSelector: "spec.no.such.field=1" },
      ];
      for (const query of malformed) expectStatus(await probe.answer(query), BAD_REQUEST);
      if (probe.resource.verbs.includes("watch"))
        expectStatus(await probe.answer({ watch: "true", timeoutSeconds: "soon" }), BAD_REQUEST);
      expectStatus(await probe.answer({ includeObject: "Most" }, { accept: TABLE }), BAD_REQUEST);
    },
  },
];
