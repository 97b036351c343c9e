"""The words of notifications in the five languages of the app. Pure."""

from farhand.model.action import ActionKind
from farhand.model.attention import AttentionKind
from farhand.model.words import LANGUAGES

_ASK = ("{worker} asks", "{worker} fragt", "{worker} demande", "{worker} pregunta", "{worker} 提问")
TITLES = {
    AttentionKind.ASK: _ASK,
    AttentionKind.FINISHED: (
        "{worker} is done",
        "{worker} ist fertig",
        "{worker} a fini",
        "{worker} terminó",
        "{worker} 已完成",
    ),
    AttentionKind.FAILED: (
        "{worker} failed",
        "{worker} ist gescheitert",
        "{worker} a échoué",
        "{worker} falló",
        "{worker} 失败",
    ),
    AttentionKind.LIMIT: (
        "{worker} has reached its usage limit",
        "{worker} ist am Nutzungslimit",
        "{worker} a atteint sa limite",
        "{worker} llegó a su límite",
        "{worker} 已达用量上限",
    ),
    AttentionKind.OFFLINE: (
        "{worker} is offline",
        "{worker} ist offline",
        "{worker} est hors ligne",
        "{worker} está sin conexión",
        "{worker} 离线",
    ),
    AttentionKind.SPRINT: (
        "{worker}’s sprint is over",
        "Der Sprint von {worker} ist vorbei",
        "Le sprint de {worker} est terminé",
        "Terminó el sprint de {worker}",
        "{worker} 的冲刺已结束",
    ),
    AttentionKind.NODE: ("Your node", "Dein Node", "Ton nœud", "Tu nodo", "你的节点"),
}
# What would be done; what has no words here is told as the question says it.
ACTIONS = {
    ActionKind.RUN: ("Run: {what}", "Ausführen: {what}", "Exécuter : {what}", "Ejecutar: {what}", "运行：{what}"),
    ActionKind.WRITE: ("Write {what}", "{what} schreiben", "Écrire {what}", "Escribir {what}", "写入 {what}"),
    ActionKind.EDIT: ("Edit {what}", "{what} bearbeiten", "Modifier {what}", "Editar {what}", "编辑 {what}"),
    ActionKind.DELETE: ("Delete {what}", "{what} löschen", "Supprimer {what}", "Borrar {what}", "删除 {what}"),
    ActionKind.READ: ("Read {what}", "{what} lesen", "Lire {what}", "Leer {what}", "读取 {what}"),
    ActionKind.FETCH: ("Fetch {what}", "{what} abrufen", "Récupérer {what}", "Descargar {what}", "获取 {what}"),
}
WHERE = ("In: {where}", "In: {where}", "Dans : {where}", "En: {where}", "位置：{where}")
STILL = (
    "{worker} still waits",
    "{worker} wartet noch",
    "{worker} attend toujours",
    "{worker} sigue esperando",
    "{worker} 仍在等待",
)
SEVERAL = (
    "While you were away: {n}",
    "Während du weg warst: {n}",
    "Pendant ton absence : {n}",
    "Mientras no estabas: {n}",
    "你不在时：{n} 件",
)
WAITS = (
    "Something waits for you",
    "Etwas wartet auf dich",
    "Quelque chose t’attend",
    "Algo te espera",
    "有事等你处理",
)
SETTLED = (
    "{worker}’s question is settled",
    "Die Frage von {worker} ist erledigt",
    "La question de {worker} est réglée",
    "La pregunta de {worker} está resuelta",
    "{worker} 的问题已处理",
)
NOTHING_MORE = (
    "Settled: nothing waits here any more",
    "Erledigt: Hier wartet nichts mehr",
    "Réglé : plus rien n’attend ici",
    "Resuelto: aquí ya no espera nada",
    "已处理：这里没有待办了",
)
ALLOW = ("Allow once", "Einmal erlauben", "Autoriser", "Permitir una vez", "允许一次")
DENY = ("Deny", "Ablehnen", "Refuser", "Denegar", "拒绝")
TEST = (
    "It works: this is how your node reaches you.",
    "Es geht: So erreicht dich dein Node.",
    "Ça marche : voici comment ton nœud te joint.",
    "Funciona: así te avisa tu nodo.",
    "可以了：节点会这样通知你。",
)


def in_language(sentence: tuple[str, str, str, str, str], language: str) -> str:
    """The sentence in that language; in English where there is no such."""
    return sentence[LANGUAGES.index(language) if language in LANGUAGES else 0]
