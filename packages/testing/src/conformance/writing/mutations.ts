import type { Mutations } from "../options.ts";
import { expectWritten, MERGE_PATCH, type Writer } from "./writer.ts";

const NEEDED = ["create", "delete", "patch"] as const;

/** The hooks that checks of the read half change objects with, over the wire. */
export function mutationsOf(writer: Writer): Mutations {
  const { verbs } = writer.probe.resource;
  let changes = 0;
  return {
    create: async () => {
      if (NEEDED.some((verb) => !verbs.includes(verb))) return undefined;
      const draft = await writer.draft();
      expectWritten(await writer.send({ method: "POST", path: writer.path, body: draft }), [201]);
      return { namespace: writer.namespace, name: draft.metadata.name };
    },
    update: async (_, { name }) => {
      const body = { metadata: { annotations: { "conformance.virtual-workspaces.dev/change": String(++changes) } } };
      const path = writer.pathOf(name);
      expectWritten(await writer.send({ method: "PATCH", path, type: MERGE_PATCH, body }));
    },
    delete: async (_, { name }) => {
      const query = { gracePeriodSeconds: 0 };
      const answer = await writer.send({ method: "DELETE", path: writer.pathOf(name), query });
      if (answer.status !== 404) expectWritten(answer, [200, 202]);
    },
  };
}
