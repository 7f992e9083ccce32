import { guideTests } from "./support/guide.ts";

guideTests(
  "tutorials/first-workspace-server",
  "how-to/admission-policies",
  "how-to/admission-webhooks",
  "how-to/apiexport",
  "how-to/authorization-webhooks",
  "how-to/cached-resources",
  "how-to/completion",
  "how-to/console",
  "how-to/install",
  "how-to/kubectl-ws",
  "how-to/panels",
  "how-to/browser",
  "how-to/query-views",
  "how-to/quotas",
  "how-to/several-shards",
  "how-to/virtual-storage",
  "how-to/workspace-server",
);
