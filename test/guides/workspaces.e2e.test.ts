import { guideTests } from "./support/guide.ts";

guideTests(
  "tutorials/first-workspace-server",
  "how-to/admission-policies",
  "how-to/admission-webhooks",
  "how-to/apiexport",
  "how-to/completion",
  "how-to/install",
  "how-to/kubectl-ws",
  "how-to/several-shards",
  "how-to/virtual-storage",
  "how-to/workspace-server",
);
