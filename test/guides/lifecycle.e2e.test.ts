import { guideTests } from "./support/guide.ts";

guideTests("authentication", "client", "conformance", "initializers", "lifecycle", "limits", "preparing-workspaces");
