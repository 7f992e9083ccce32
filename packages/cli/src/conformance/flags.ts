import { QUIET_FLAGS } from "../flags/servers.ts";
import { commandLine, type FlagSet, type Values } from "../flags/table.ts";

/** Flags for the connection and the user. */
export const SERVER = {
  "certificate-authority": {
    type: "text",
    value: "file",
    otherwise: "those that Node.js trusts",
    help: "Certificate authorities of the server.",
  },
  "tls-server-name": {
    type: "text",
    value: "name",
    otherwise: "the host of the URL",
    help: "Name in the server's certificate.",
  },
  "insecure-skip-tls-verify": {
    type: "switch",
    help: "Accept any server certificate. Security: anyone between client and server can read the token.",
  },
  "client-certificate": { type: "text", value: "file", help: "Client certificate of the user, with --client-key." },
  "client-key": { type: "text", value: "file", help: "Key of --client-certificate." },
  "token-file": { type: "text", value: "file", help: "Bearer token of the user." },
} as const satisfies FlagSet;

/** Flags for API servers alone. */
export const SERVER_CHECK_FLAGS = {
  "other-token-file": {
    type: "texts",
    value: "file",
    help: "Token of another user. Checks fail if the server takes one user for the other, or shows objects of namespaces in which this user may not list. Repeat for several.",
  },
  resource: {
    type: "texts",
    value: "name",
    help: "Check only this resource: quotes, or quotes.example.dev. Repeat for several.",
  },
  strict: { type: "switch", help: "Also check what this project promises beyond Kubernetes." },
} as const satisfies FlagSet;

/** Flags for space providers alone. */
export const SPACE_PROVIDER_FLAGS = {
  parent: { type: "text", value: "path", help: "Read and create spaces below this one." },
  "ready-within": {
    type: "text",
    value: "seconds",
    otherwise: "300",
    help: "Time limit for a space to become ready, or to be deleted.",
  },
} as const satisfies FlagSet;

/** Flags for writes to API servers. */
export const WRITING_FLAGS = {
  namespace: {
    type: "text",
    value: "name",
    otherwise: "default",
    help: "Namespace for namespaced objects. It must exist.",
  },
  sample: {
    type: "texts",
    value: "file",
    otherwise: "fields that the OpenAPI schema requires, or a copy of an object",
    help: "Templates of the objects to create, YAML or JSON. Repeat for several.",
  },
  "patch-only-token-file": {
    type: "text",
    value: "file",
    help: "Token of a user who may patch but not create: an apply that creates an object needs create.",
  },
  collects: {
    type: "switch",
    help: "Check garbage collection, as in a cluster: objects are deleted with their owners and namespaces. The check creates namespaces of its own.",
  },
} as const satisfies FlagSet;

/** Command line of `virtual-workspaces conformance`. */
export const CONFORMANCE = commandLine({
  program: "virtual-workspaces conformance",
  words: "<url>",
  summary: "check an API server as its clients see it",
  description: `Checks a Kubernetes-style API server as its clients see it: discovery, lists, watches, media types, and writes with --write. Without --write it only reads. A check that fails after a write of another client is disturbed. The URL is the one below which /api and /apis are. Exits with 1 when a check fails or is disturbed, something is left behind, or the server does not answer.

Examples:
  virtual-workspaces conformance https://127.0.0.1:6444/services/quotes/clusters/root --token-file=token
  virtual-workspaces conformance https://127.0.0.1:6444/services/quotes/clusters/root --write --resource=quotes`,
  sections: {
    Flags: {
      ...SERVER,
      ...SERVER_CHECK_FLAGS,
      check: {
        type: "texts",
        value: "id",
        help: "Run only this check (T9.4) or group (T9). Repeat for several.",
      },
      json: { type: "switch", help: "Print the report as JSON." },
      ...QUIET_FLAGS,
    },
    "Space providers": {
      "space-provider": {
        type: "switch",
        help: "Check a provider of spaces, with /v1/spaces below the URL. With --write it creates a space whose name begins with conformance-, and deletes it.",
      },
      ...SPACE_PROVIDER_FLAGS,
    },
    Writing: {
      write: {
        type: "switch",
        help: "Create, change and delete objects of each --resource. They have the label conformance.virtual-workspaces.dev/run, and are deleted at the end. No other client may write these resources meanwhile.",
      },
      ...WRITING_FLAGS,
      clean: {
        type: "text",
        value: "run",
        help: "Delete the objects that a killed run has left, and check nothing. A run prints its name when it starts; all stands for every run, even one that still writes.",
      },
    },
  },
});

/** Values of the flags. */
export type ConformanceFlags = Values<(typeof CONFORMANCE)["flags"]>;
