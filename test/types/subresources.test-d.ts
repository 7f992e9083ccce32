// Misuse of subresources must not compile. This file is compiled but never run. If a misuse compiles, the compiler reports
// its directive below as unused.
import { defineResource, type NamedSubresource } from "@virtual-workspaces/framework";

type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function typed<Actual, Expected>(_proof: Equals<Actual, Expected>): void {}

const Machine = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Machine",
  scope: "Namespaced",
  spec: { type: "object", properties: { image: { type: "string" } } },
});
const Approval = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Approval",
  scope: "Namespaced",
  spec: { type: "object", required: ["by"], properties: { by: { type: "string" } } },
});
const Ticket = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Ticket",
  scope: "Namespaced",
  schema: { type: "object", properties: { seat: { type: "integer" } } },
});
const machines = Machine.collection();

// Each function gets the object and its own kind.
Machine.serve(machines, {
  subresources: {
    log: {
      connect: (req, res, { object, key, tail, query }) => {
        typed<typeof object.spec.image, string | undefined>(true);
        typed<typeof key.name, string>(true);
        res.end(`${req.method} ${tail} ${query.get("follow")}`);
      },
      longRunning: true,
    },
    exec: {
      methods: ["GET", "POST"],
      upgrade: (_req, socket, { object, head }) => {
        typed<typeof object.spec.image, string | undefined>(true);
        socket.end(head);
      },
    },
    probe: {
      object: "unread",
      connect: (_req, res, { object }) => {
        typed<typeof object, undefined>(true);
        res.end();
      },
    },
    approve: {
      kind: Approval,
      create: ({ body, object, dryRun }) => {
        typed<typeof body.spec.by, string>(true);
        typed<typeof object.spec.image, string | undefined>(true);
        typed<typeof dryRun, boolean>(true);
        return { spec: { by: body.spec.by } };
      },
    },
    seat: {
      kind: Ticket,
      get: ({ key }) => ({ seat: key.name.length }),
      update: ({ body }) => body,
    },
    stop: { kind: Ticket, create: () => undefined },
    ticket: { kind: Ticket, object: "unread", create: ({ object }) => typed<typeof object, undefined>(true) },
  },
});

Machine.serve(machines, {
  subresources: {
    log: {
      connect: (_req, res, { object }) => {
        // @ts-expect-error a field that the object does not have
        res.end(object.spec.imgae);
      },
    },
  },
});
// @ts-expect-error Kubernetes' own subresources are part of the definition
Machine.serve(machines, { subresources: { status: { connect: (_req, res) => void res.end() } } });
// @ts-expect-error and so is this one
Machine.serve(machines, { subresources: { scale: { connect: (_req, res) => void res.end() } } });
// @ts-expect-error a method that is no verb
Machine.serve(machines, { subresources: { log: { methods: ["TRACE"], connect: (_req, res) => void res.end() } } });
Machine.serve(machines, {
  // @ts-expect-error one that speaks a kind does not connect
  subresources: { log: { kind: Ticket, connect: (_req: unknown, res: { end: () => void }) => res.end() } },
});
Machine.serve(machines, {
  // @ts-expect-error an answer of another kind
  subresources: { seat: { kind: Ticket, get: () => ({ seat: "window" }) } },
});
Machine.serve(machines, {
  subresources: {
    approve: {
      kind: Approval,
      create: ({ body }) => {
        // @ts-expect-error a field that the body does not have
        body.spec.name;
      },
    },
  },
});

export const reusable: NamedSubresource<object> = { connect: (_req, res) => void res.end() };
