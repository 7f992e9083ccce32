// Differences between kcp's views of waiting workspaces and ours that stay, with reasons in docs/reference/kcp/answers.md.
import { type Found, isEmpty, isStatus, type Known, messageOf, refuses } from "./found.ts";

const NO_HOLDER = /workspaces\/(?:setup|\$\(ws\):|:setup|\$\(path\):setup|\$\(ws\):setup:x|a%20b:setup)\/clusters/;
const ALL = "/clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters";
const STATUS = /^(?:PUT|PATCH) .*\/logicalclusters\/cluster\/status/;

const OF_LIFECYCLE: readonly Known[] = [
  {
    name: "Messages about forbidden content",
    is: ({ at, theirs, ours }) =>
      /\/(?:message|details\/\w+)$/.test(at) &&
      /cannot \w+ path "\/clusters\/<cluster\d>\/apis?\//.test(messageOf(theirs)) &&
      refuses(ours, 403),
  },
  {
    name: "Invalid initializer names",
    is: ({ sent, ours }) => NO_HOLDER.test(sent) && (refuses(ours, 403) || refuses(ours, 404)),
  },
  {
    name: "Impersonation by controllers of a type",
    is: ({ name, theirs, ours }) =>
      (messageOf(ours).includes("impersonat") && Number(theirs.status) !== 404) ||
      (name === "as somebody else" && theirs.status === 200 && refuses(ours, 403)),
  },
  {
    name: "Content of missing workspaces",
    is: ({ theirs, ours }) => String(theirs.body).startsWith("error getting logicalcluster ") && isStatus(ours),
  },
  {
    name: "Probes of views",
    is: ({ sent, theirs, ours }) =>
      /\/(?:healthz|livez|readyz|\*|\$\(kid\.spec\.cluster\))$/.test(sent) &&
      theirs.status === 404 &&
      ours.status === 200,
  },
  {
    name: "One LogicalCluster over all workspaces",
    is: ({ sent, theirs, ours }) => sent.includes(`${ALL}/`) && isStatus(theirs) && refuses(ours, 405),
  },
  {
    name: "The stored version of LogicalClusters",
    is: ({ at, actual }) => at.endsWith("/kcp.io/original-api-version") && actual === undefined,
  },
  {
    name: "Metadata of one as a list",
    is: ({ theirs, ours }) => messageOf(theirs) === "content is not a list" && refuses(ours, 406),
  },
  {
    name: "Namespaces of LogicalClusters",
    is: ({ sent, ours }) => sent.includes("/namespaces/default/logicalclusters") && refuses(ours, 404),
  },
  {
    name: "LogicalClusters by name",
    is: ({ sent, at, expected }) =>
      sent.includes("fieldSelector=metadata.name=cluster") && at.includes("/items.") && isEmpty(expected),
  },
  {
    name: "The kind in rejections of a status",
    is: ({ at, theirs, ours }) =>
      refuses(ours, 422) && messageOf(theirs).includes("LogicalCluster.tenancy.kcp.io") && isOfKind(at),
  },
  {
    name: "Writable fields of the status",
    is: ({ sent, at, theirs, ours }) =>
      STATUS.test(sent) &&
      refuses(ours, 422) &&
      (theirs.status === 200 || isStrict(theirs) || /\/(?:message|details\/causes.*)$/.test(at)),
  },
  {
    name: "Invalid statuses",
    is: ({ sent, theirs, ours }) => STATUS.test(sent) && theirs.status === 500 && refuses(ours, 422),
  },
  {
    name: "Keys in messages",
    is: ({ at, theirs, ours }) =>
      /StorageError/.test(messageOf(theirs)) && refuses(ours, 409) && at.endsWith("/message"),
  },
  {
    name: "Field owners of a status",
    is: ({ sent, ours }) => sent.includes("/status?fieldManager=one") && (refuses(ours, 409) || refuses(ours, 422)),
  },
  {
    name: "The annotation of a dry run",
    is: ({ sent, at, expected }) =>
      sent.includes("?dryRun=All") && at.endsWith("/annotations") && expected === undefined,
  },
  {
    name: "Versions in bodies of built-in kinds",
    is: ({ at, theirs, ours }) =>
      at.endsWith("/message") && / is registered for version /.test(messageOf(theirs)) && refuses(ours, 400),
  },
  {
    name: "HEAD",
    is: ({ sent, theirs, ours }) => sent.startsWith("HEAD ") && theirs.status === 405 && ours.status === 200,
  },
  {
    name: "Encoded slashes in content",
    is: ({ sent, ours }) => sent.includes("a%2Fb") && refuses(ours, 400),
  },
];

/** Limits these differences to the views of waiting workspaces, except for the last one. */
export const OF_WAITING: readonly Known[] = [
  ...OF_LIFECYCLE.map(({ name, is }) => ({
    name,
    is: (found: Found) => /\/services\/(?:initializing|terminating)workspaces\//.test(found.sent) && is(found),
  })),
  {
    name: "Impersonated groups of a view",
    is: ({ name, theirs, ours }) =>
      name === "with the groups of the view" && theirs.status === 200 && messageOf(ours).includes("impersonation"),
  },
];

/** Whether strict field validation found an unknown field. */
function isStrict(theirs: Found["theirs"]): boolean {
  return theirs.status === 400 && messageOf(theirs).includes("strict decoding error: unknown field");
}

function isOfKind(at: string): boolean {
  return /\/(?:message|details\/group)$/.test(at);
}
