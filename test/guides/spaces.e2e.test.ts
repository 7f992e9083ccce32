import { guideTests } from "./support/guide.ts";

guideTests("how-to/local-spaces", "how-to/spaces", "how-to/spaces-view");
