import { guideTests } from "./support/guide.ts";

guideTests(
  "how-to/authorization",
  "how-to/controllers",
  "how-to/delegation",
  "how-to/express",
  "how-to/features",
  "how-to/forwarding",
  "how-to/forwarding-identity",
  "how-to/informers",
  "how-to/polled-sources",
  "how-to/production",
  "how-to/proxying",
  "how-to/several-sources",
  "how-to/subresources",
  "how-to/test-server",
  "how-to/versions",
  "tutorials/view-over-workspaces",
  "how-to/views-of-workspaces",
  "how-to/writable-views",
  "how-to/writes",
  "how-to/writing-a-view",
);
