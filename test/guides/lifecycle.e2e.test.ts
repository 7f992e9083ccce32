import { guideTests } from "./support/guide.ts";

guideTests(
  "tutorials/first-controller",
  "how-to/authentication",
  "how-to/client",
  "how-to/conformance",
  "how-to/initializers",
  "how-to/lifecycle",
  "how-to/limits",
  "how-to/preparing-workspaces",
);
