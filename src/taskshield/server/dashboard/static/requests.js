/** A conversation as a request to copy. Invisible characters in it are escaped. */

import { azureBody } from "./conversation.js";

const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/gu;
const AZURE = "/contentsafety/agent:analyzeTaskAdherence?api-version=2025-09-15-preview";

/** @typedef {{name: string, text: string}} Sample */

/**
 * @param {unknown} conversation
 * @param {string[]} judges
 * @param {string} origin of this server
 * @returns {Sample[]}
 */
export function requestsOf(conversation, judges, origin) {
  const body = { conversation, judges };
  const azure = azureBody(conversation);
  const samples = [
    { name: "cURL", text: curl(`${origin}/api/playground`, "x-taskshield-key", body) },
    { name: "Python", text: python(`${origin}/api/playground`, body) },
  ];
  if (azure !== null) {
    samples.push({
      name: "Azure",
      text: curl(`${origin}${AZURE}`, "Ocp-Apim-Subscription-Key", azure),
    });
  }
  return samples;
}

/**
 * @param {string} address
 * @param {string} header for the key
 * @param {unknown} body
 */
function curl(address, header, body) {
  return [
    `curl -X POST '${address}' \\`,
    "  -H 'content-type: application/json' \\",
    `  -H "${header}: $TASKSHIELD_KEY" \\`,
    `  -d '${json(body).replaceAll("'", "'\\''")}'`,
  ].join("\n");
}

/**
 * @param {string} address
 * @param {unknown} body
 */
function python(address, body) {
  return [
    "import json",
    "import os",
    "from urllib.request import Request, urlopen",
    "",
    `body = ${escaped(JSON.stringify(json(body)))}`,
    "request = Request(",
    `    ${JSON.stringify(address)},`,
    "    data=body.encode(),",
    "    headers={",
    '        "content-type": "application/json",',
    '        "x-taskshield-key": os.environ.get("TASKSHIELD_KEY", ""),',
    "    },",
    ")",
    'for run in json.load(urlopen(request))["runs"]:',
    '    print(run["judge"], [decision["action"] for decision in run["decisions"]])',
  ].join("\n");
}

/** @param {unknown} value */
function json(value) {
  return escaped(JSON.stringify(value));
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll(HIDDEN, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
