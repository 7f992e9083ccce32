import { excerpt, expectJson } from "../../conformance/expect.ts";
import { fieldsAt, textAt } from "../../conformance/json.ts";
import { fail, skip } from "../../conformance/outcome.ts";
import type { ProviderCheck } from "../check.ts";

/** P1: the provider itself. */
export const itselfChecks: readonly ProviderCheck[] = [
  {
    id: "P1.1",
    title: "its status says that it is ready, its version, and what it is able to do",
    protects: "a manager cannot open it, or asks for what it cannot do",
    run: async (probe) => {
      const answer = await probe.call("/v1/status");
      const status = probe.bodies.ok("ProviderStatus", answer);
      if (status["ready"] !== true) fail(answer.request, "it to be ready", textAt(status, "message") || "no message");
    },
  },
  {
    id: "P1.2",
    title: "its document, where it serves one, has the paths of the protocol",
    protects: "clients that are made from it ask for something else",
    run: async (probe) => {
      const answer = await probe.call("/openapi.json");
      if (answer.status === 404) skip("it serves none");
      const document = expectJson(answer);
      if (answer.status !== 200 || !textAt(document, "openapi").startsWith("3."))
        fail(answer.request, "a document of OpenAPI 3", excerpt(answer));
      const paths = fieldsAt(document, "paths").map(([path]) => path);
      const missing = probe.paths.find((path) => path !== "/openapi.json" && !paths.includes(path));
      if (missing !== undefined) fail(answer.request, `the path ${missing}`, paths.join(", "));
    },
  },
];
