"""Names of patients: after a label, beside a title, an age or what happened to the person."""

from __future__ import annotations

import re

from curation.privacy.search import Pattern
from curation.privacy.words import ARABIC, CJK, CYRILLIC, GAP, LATIN, NAME

PATIENT = "a named patient"
_TITLE = r"(?:Mr|Mrs|Ms|Miss|Herrn?|Frau|Sra?|Señora?|Senhora?|Monsieur|Madame|Mme|Signora?|г-н|г-жа)\.?"
_PERSON = r"(?:[Pp]atient|[Bb]oy|[Gg]irl|[Mm]an|[Ww]oman|[Cc]hild|[Ii]nfant|[Nn]ewborn|[Mm]ale|[Ff]emale)"
_CLINICAL = (
    r"(?:,?\s{1,3}\(?(?:an?\s|aged\s|of\s)?\d{1,3}(?:[- ](?:year|yr|y/o|jahr|jährig|ans|años|anos|anni)|\))|"
    r",?\s{1,3}(?:who\s)?(?:was|is|had been|has been|wurde)\s(?:admitted|referred|diagnosed|hospitali[sz]ed|"
    r"discharged|operated|brought|treated|aufgenommen)|\s{1,3}(?:presented|complained|underwent|suffered|"
    r"denied))"
)
_WHOSE = (
    r"(?:(?i:\bpatient(?:['’]?s)? name|\bname of (?:the )?(?:patient|child)|\bnombre del? (?:la )?paciente|"
    r"\bnome d[oa] paciente|\bname de[rs] patient(?:en|in)|\bnom d(?:u|e la) patiente?|"
    r"(?<!\w)ф\.?\s?и\.?\s?о\.?"
    r"(?: (?:пациент(?:а|ки)|больно(?:го|й)))?)|(?:患者|病人|患儿)?姓名|患者氏?名|氏名|اسم (?:ال)?(?:مريضة?|"
    r"طفلة?))"
)
_AGED = (
    r"\s{0,3}[(,،:，（]?\s{0,3}(?:(?:who\s(?:is|was)\s)?an?\s|aged\s|age\s|de\s|âgée?\sde\s|im Alter von\s|"
    r"البالغ\w{0,3} من العمر\s|العمر\s)?\d{1,3}(?:\s{0,2}[-‐]?\s{0,2}(?:y\b|years?|yrs?|y/o|months?|weeks?|"
    r"days?|"
    r"años|anos|meses|ans\b|mois|anni|J\.|Jahre?|jährig\w{0,3}|лет|год|мес|岁|歳|月龄|个月|عام|سنة)|"
    r"\s{0,2}[,)])"
)
_LABEL = (
    r"(?<![\w-])(?:(?i:(?:full |patient['’]?s? |child['’]?s? )?name(?: of (?:the )?(?:child|patient|mother|"
    r"father))?|"
    r"surname|nombres?(?: y apellidos)?|apellidos|nome(?: d[oa] paciente)?|noms?|prénom|vorname|nachname|"
    r"familienname|"
    r"имя|фамилия|пациент(?:ка)?|paciente))"
)
_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗高郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石金韦贾夏付方邹熊白孟秦邱侯江尹薛"
    "闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔向汤费鞠"
)
_SOMEBODY = (
    r"(?i:\b(?:patient(?:in|e)?|paciente|enfant|ni[ñn][oa]|fillette|garçon|kind|junge|mädchen|boy|girl|man|"
    r"woman|"
    r"proband|child|infant|case of|le cas de|el caso de|der fall)\b)"
)
_IN_FULL = rf"{GAP}\(?{CYRILLIC}(?:{GAP}(?:{CYRILLIC}|[А-ЯЁ]\.\s?[А-ЯЁ]\.?)){{1,2}}"
_NO_NAME = (
    r"(?!The|This|That|Our|A|An|One|Case|Patient|Index|His|Her|Patients?\b|Subject|Proband|Participant)"
)
_BESIDE_LATIN = (
    rf"{_LABEL}\s{{0,3}}[:：]\s{{0,3}}(?:{LATIN}|{CYRILLIC})|"
    rf"(?<![\w.]){_SOMEBODY},?{GAP}\(?{LATIN}(?:{GAP}{LATIN}){{1,2}}{_AGED}"
)
_BESIDE_MORE = (
    rf"(?<![\w.]){_NO_NAME}{LATIN}{GAP}(?!Patient|Case|Subject)(?:{LATIN}{GAP}){{1,2}}(?:is|"
    rf"was),?{GAP}an?{GAP}"
    rf"\d{{1,3}}[- ](?:year|month|week|day)s?[- ]old|"
    rf"\b(?:Don|Do[ñn]a|Sr\.|Sra\.|Monsieur|Madame|Mlle|Herrn?|Frau){GAP}{LATIN}(?:{GAP}{LATIN}){{1,4}}|"
    rf"(?<=[:.] )D(?:ña|[ªa])?\.{GAP}{LATIN}{GAP}{LATIN}|"
    rf"(?:Ребёнок|Мальчик|Девочка),?{_IN_FULL}|\bг-(?:на|н|жа|жи){GAP}{CYRILLIC}|"
    rf"\bI{GAP}(?:reviewed|saw|met|examined){GAP}{LATIN},?{GAP}{LATIN}"
)
_BESIDE_HAN = (
    rf"(?:患者|患儿|病人|产妇)\s?[{_SURNAMES}](?!某)[{CJK}]{{1,2}}[,，、\s（(]{{1,3}}(?:男|女|"
    rf"\d{{1,3}}\s{{0,2}}(?:岁|月|个月))|"
    rf"(?<![{CJK}])[{_SURNAMES}](?!某)[{CJK}]{{1,2}}(?:女士|先生|小姐)|"
    rf"(?:姓名|氏名|お名前|患者名)\s{{0,3}}[:：]?\s{{0,3}}(?![和及与與或等])[{CJK}]{{1,4}}|"
    rf"(?<![{CJK}])(?!患者|皆)[{CJK}]{{1,4}}[ 　]?[{CJK}ぁ-んァ-ヶ]{{0,4}}(?:さん|様|"
    rf"氏)[(（は、,\s]{{0,2}}\d{{1,3}}\s?歳"
)
_BESIDE_ARABIC = (
    rf"(?:اسم (?:ال)?(?:مريضة?|طفلة?)|الاسم)\s{{0,3}}:?\s{{0,3}}{ARABIC}(?:{GAP}{ARABIC})?|"
    rf"(?:السيدة?|المريضة?|الطفلة?|الآنسة){GAP}(?!رجل|امر[أا]ة|[يت]بلغ|ذكر|[أا]نثى|من ){ARABIC}"
    rf"(?:{GAP}{ARABIC}){{1,2}}{_AGED}"
)
_THING = re.compile(
    r"(?i)gene|drug|brand|trade|product|file|variable|strain|company|software|journal|protein|species|author|"
    r"reviewer|editor|conflict|acknowledg|personal communication"
)
"""Words beside names of other things, and of other people."""

CERTAIN = (
    Pattern(
        PATIENT,
        re.compile(
            rf"\b{_TITLE}{GAP}{NAME}{_CLINICAL}|"
            rf"\b{_PERSON},?{GAP}(?:was\s|is\s|who is\s)?(?:named|called|by the name of){GAP}{NAME}|"
            rf"{_WHOSE}\s{{0,3}}(?:[:：]|\bis\b|\bwas\b)\s{{0,3}}(?:{NAME}|{CYRILLIC}|[{CJK}]{{2,4}}|"
            rf"{ARABIC})|"
            rf"(?:Пациент(?:ка)?|Больн(?:ой|ая)),?{_IN_FULL}"
        ),
    ),
)
HINTS = (
    *(
        Pattern(PATIENT, re.compile(beside), _THING)
        for beside in (_BESIDE_LATIN, _BESIDE_MORE, _BESIDE_HAN, _BESIDE_ARABIC)
    ),
    Pattern(
        "a person with title or initials",
        re.compile(rf"\b{_TITLE}{GAP}(?:{NAME}|[A-Z]\b)|\b{_PERSON},?{GAP}\(?[A-Z]\.\s?[A-Z]\.(?!\w)"),
        re.compile(r"(?i)conflict|interest|author|acknowledg|thank|personal communication"),
    ),
)
