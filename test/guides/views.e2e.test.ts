import { guideTests } from "./support/guide.ts";

guideTests(
  "authorization",
  "controllers",
  "delegation",
  "features",
  "forwarding",
  "forwarding-identity",
  "informers",
  "proxying",
  "several-sources",
  "subresources",
  "versions",
  "views-of-workspaces",
  "writable-views",
  "writes",
  "writing-a-view",
);
