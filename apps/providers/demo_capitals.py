"""What the scripted demo model knows: countries and their capitals, by continent."""

import re
from dataclasses import dataclass

_TABLE = {
    "Europe": """
        Albania: Tirana; Andorra: Andorra la Vella; Austria: Vienna; Belarus: Minsk;
        Belgium: Brussels; Bosnia and Herzegovina: Sarajevo; Bulgaria: Sofia; Croatia:
        Zagreb; Czech Republic: Prague; Czechia: Prague; Denmark: Copenhagen; Estonia:
        Tallinn; Finland: Helsinki; France: Paris; Germany: Berlin; Greece: Athens;
        Hungary: Budapest; Iceland: Reykjavik; Ireland: Dublin; Italy: Rome; Kosovo:
        Pristina; Latvia: Riga; Liechtenstein: Vaduz; Lithuania: Vilnius; Luxembourg:
        Luxembourg; Malta: Valletta; Moldova: Chisinau; Monaco: Monaco; Montenegro:
        Podgorica; Netherlands: Amsterdam; North Macedonia: Skopje; Norway: Oslo;
        Poland: Warsaw; Portugal: Lisbon; Romania: Bucharest; Russia: Moscow; San
        Marino: San Marino; Serbia: Belgrade; Slovakia: Bratislava; Slovenia: Ljubljana;
        Spain: Madrid; Sweden: Stockholm; Switzerland: Bern; Ukraine: Kyiv; United
        Kingdom: London
    """,
    "Asia": """
        Afghanistan: Kabul; Armenia: Yerevan; Azerbaijan: Baku; Bahrain: Manama;
        Bangladesh: Dhaka; Bhutan: Thimphu; Cambodia: Phnom Penh; China: Beijing;
        Georgia: Tbilisi; India: New Delhi; Indonesia: Jakarta; Iran: Tehran; Iraq:
        Baghdad; Japan: Tokyo; Jordan: Amman; Kazakhstan: Astana; Kuwait: Kuwait City;
        Kyrgyzstan: Bishkek; Laos: Vientiane; Lebanon: Beirut; Malaysia: Kuala Lumpur;
        Maldives: Male; Mongolia: Ulaanbaatar; Myanmar: Naypyidaw; Nepal: Kathmandu;
        North Korea: Pyongyang; Oman: Muscat; Pakistan: Islamabad; Philippines: Manila;
        Qatar: Doha; Saudi Arabia: Riyadh; Singapore: Singapore; South Korea: Seoul;
        Syria: Damascus; Taiwan: Taipei; Tajikistan: Dushanbe; Thailand: Bangkok;
        Turkey: Ankara; Turkmenistan: Ashgabat; United Arab Emirates: Abu Dhabi;
        Uzbekistan: Tashkent; Vietnam: Hanoi; Yemen: Sanaa
    """,
    "Africa": """
        Algeria: Algiers; Angola: Luanda; Benin: Porto-Novo; Botswana: Gaborone; Burkina
        Faso: Ouagadougou; Burundi: Gitega; Cameroon: Yaounde; Cape Verde: Praia; Chad:
        N'Djamena; Djibouti: Djibouti; Egypt: Cairo; Eritrea: Asmara; Ethiopia: Addis
        Ababa; Gabon: Libreville; Gambia: Banjul; Ghana: Accra; Guinea: Conakry; Kenya:
        Nairobi; Lesotho: Maseru; Liberia: Monrovia; Libya: Tripoli; Madagascar:
        Antananarivo; Malawi: Lilongwe; Mali: Bamako; Mauritania: Nouakchott; Mauritius:
        Port Louis; Morocco: Rabat; Mozambique: Maputo; Namibia: Windhoek; Niger:
        Niamey; Nigeria: Abuja; Rwanda: Kigali; Senegal: Dakar; Seychelles: Victoria;
        Sierra Leone: Freetown; Somalia: Mogadishu; South Africa: Pretoria; Sudan:
        Khartoum; Tanzania: Dodoma; Togo: Lome; Tunisia: Tunis; Uganda: Kampala; Zambia:
        Lusaka; Zimbabwe: Harare
    """,
    "North America": """
        Bahamas: Nassau; Barbados: Bridgetown; Belize: Belmopan; Canada: Ottawa; Costa
        Rica: San Jose; Cuba: Havana; Dominican Republic: Santo Domingo; El Salvador:
        San Salvador; Guatemala: Guatemala City; Haiti: Port-au-Prince; Honduras:
        Tegucigalpa; Jamaica: Kingston; Mexico: Mexico City; Nicaragua: Managua; Panama:
        Panama City; Trinidad and Tobago: Port of Spain; United States: Washington
    """,
    "South America": """
        Argentina: Buenos Aires; Bolivia: Sucre; Brazil: Brasilia; Chile: Santiago;
        Colombia: Bogota; Ecuador: Quito; Guyana: Georgetown; Paraguay: Asuncion; Peru:
        Lima; Suriname: Paramaribo; Uruguay: Montevideo; Venezuela: Caracas
    """,
    "Oceania": """
        Australia: Canberra; Fiji: Suva; New Zealand: Wellington; Papua New Guinea: Port
        Moresby; Samoa: Apia; Tonga: Nuku'alofa; Vanuatu: Port Vila
    """,
}


@dataclass(frozen=True, slots=True)
class Country:
    name: str
    capital: str
    continent: str


def _countries() -> dict[str, Country]:
    found = {}
    for continent, listed in _TABLE.items():
        for pair in " ".join(listed.split()).split("; "):
            name, capital = pair.split(": ")
            found[name.lower()] = Country(name, capital, continent)
    return found


COUNTRIES = _countries()
_NAMES = re.compile(
    r"\b(" + "|".join(re.escape(name) for name in sorted(COUNTRIES, key=len, reverse=True)) + r")\b"
)


def country_in(text: str) -> Country | None:
    """The first country that ``text`` names."""
    found = _NAMES.search(text.lower())
    return COUNTRIES[found[1]] if found else None
